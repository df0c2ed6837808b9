//! The overlay in a picture: there when asked for, and the same every time.

use tools::sample;

const SKINNING: &str = env!("CARGO_BIN_EXE_skinning");

#[test]
fn is_drawn_when_asked_for_and_shows_no_clock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let picture = |name: &str, option: &str| {
        let path = folder.path().join(name);
        let path = path.to_str().expect("the name is text");
        let common = ["--headless", "--validation", "strict", "--size", "480x270", "--frames", "3"];
        let ended = sample::run(SKINNING, [&common[..], &[option, "--screenshot", path]].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        image::open(path).expect("it was written").into_rgba8()
    };
    let (first, second) = (picture("first.png", "--ui"), picture("second.png", "--ui"));
    assert!(first == second, "the overlay differs from run to run");
    let without = picture("without.png", "--no-ui");
    let different = |x: std::ops::Range<u32>| {
        let changed = |x| (0..270).filter(|&y| first.get_pixel(x, y) != without.get_pixel(x, y)).count();
        x.map(changed).sum::<usize>()
    };
    assert!(different(0..240) > 10_000, "no overlay to the left");
    assert_eq!(different(300..480), 0, "the scene to the right is another one");
}
