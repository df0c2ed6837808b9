//! Other people's models under strict validation.

#[test]
fn all_models_render_without_a_message() {
    tools::corpus::check_all_are_drawn(env!("CARGO_BIN_EXE_tone_mapping"));
}
