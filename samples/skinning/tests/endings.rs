//! Ended early or by others: at once, without a word, with all destroyed.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use tools::display::Display;
use tools::faults::Running;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");
const SMALL: &[&str] = &["--size", "320x200"];
const HALF_A_MILLION: usize = 500_000;

/// Writes a model of so many vertices: triangles of a wavy strip, without normals, so that these are to be made.
fn write_model(path: &Path, vertices: usize) {
    let vertices = vertices / 3 * 3;
    let position = |vertex: usize| {
        let (along, corner) = ((vertex / 3) as f32 * 1e-4, (vertex % 3) as f32);
        [along, (along * 3.0).sin() + corner % 2.0, corner * 0.5]
    };
    let data: Vec<u8> = (0..vertices).flat_map(position).flat_map(f32::to_le_bytes).collect();
    let longest = vertices as f32;
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":{vertices},"type":"VEC3",
"min":[0,-1,0],"max":[{longest},2,1]}}],
"bufferViews":[{{"buffer":0,"byteLength":{length}}}],"buffers":[{{"byteLength":{length}}}]}}"#,
        length = data.len()
    );
    while json.len() % 4 != 0 {
        json.push(' ');
    }
    let word = |number: usize| (number as u32).to_le_bytes();
    let total = 12 + 8 + json.len() + 8 + data.len();
    let parts: [&[u8]; 9] = [
        b"glTF",
        &word(2),
        &word(total),
        &word(json.len()),
        b"JSON",
        json.as_bytes(),
        &word(data.len()),
        b"BIN\0",
        &data,
    ];
    fs::write(path, parts.concat()).expect("the model can be written");
}

/// Starts the sample with a model of half a million vertices in a folder.
fn start_with_large_model<'a>(display: &'a Display, folder: &Path, options: &[&str]) -> Running<'a> {
    let model = folder.join("model.glb");
    write_model(&model, HALF_A_MILLION);
    let model = [model.to_str().expect("the name is text")];
    Running::start(display, SKINNING, &[SMALL, options, &model].concat(), &[])
}

/// Sends a signal by the shell's own `kill`, which is there without another package.
fn send_signal(running: &Running<'_>, signal: &str) {
    let command = format!("kill -s {signal} {}", running.process_id());
    let status = Command::new("sh").args(["-c", &command]).status().expect("there is a shell");
    assert!(status.success(), "{command}: {status}");
}

#[test]
fn half_a_million_vertices_are_shown() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    start_with_large_model(&display, folder.path(), &["--frames", "1"]).expect_good_end();
}

#[test]
fn closed_at_once_while_half_a_million_vertices_load() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    start_with_large_model(&display, folder.path(), &[]).close();
}

#[test]
fn a_signal_ends_it_while_half_a_million_vertices_load() {
    let Some(display) = Display::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let running = start_with_large_model(&display, folder.path(), &[]);
    send_signal(&running, "TERM");
    running.expect_good_end();
}

#[test]
fn signals_end_it_as_closing_does() {
    let Some(display) = Display::start() else { return };
    for signal in ["TERM", "INT"] {
        let running = Running::start(&display, SKINNING, SMALL, &[]);
        running.wait_for_frames(3);
        send_signal(&running, signal);
        running.expect_good_end();
    }
}
