//! How long loading takes, beside the `gltf` crate's own loader, which does less: it decodes images, but leaves them in
//! their formats, and neither reads nor checks what is in buffers.
//!
//! `cargo bench -p ashwright --bench load`

#[path = "models/file.rs"]
mod file;
#[path = "models/nodes.rs"]
mod nodes;
#[path = "models/textured.rs"]
mod textured;

use ashwright::scene::Scene;
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;

fn load(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in [("textured", textured::textured()), ("1000 nodes", nodes::nodes(1000))] {
        let path = folder.path().join(name).with_extension("glb");
        std::fs::write(&path, &bytes).expect("a file");
        println!("{name}: {:.1} MB", bytes.len() as f64 / 1e6);
        let mut group = criterion.benchmark_group(format!("load {name}"));
        group.sample_size(20).measurement_time(Duration::from_secs(10));
        group.bench_function("ashwright", |bencher| bencher.iter(|| black_box(Scene::load(&path)).expect("it loads")));
        group.bench_function("gltf", |bencher| bencher.iter(|| black_box(gltf::import(&path)).expect("it loads")));
    }
}

criterion_group!(benches, load);
criterion_main!(benches);
