//! What the tests of the workspace share.

pub mod corpus;
