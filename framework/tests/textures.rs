//! Which textures of a scene are uploaded, and how.

use ashwright::glam::{Affine2, Vec3, Vec4};
use ashwright::model::Model;
use ashwright::scene::{
    AlphaMode, Filter, Image, ImageFormat, Material, Sampler, Scene, Texture, TextureInfo, TextureSlot, Wrap,
};

fn material(textures: [Option<usize>; TextureSlot::COUNT]) -> Material {
    let info = |texture| TextureInfo { texture, tex_coord: 0, transform: Affine2::IDENTITY };
    Material {
        name: None,
        base_color_factor: Vec4::ONE,
        metallic_factor: 1.0,
        roughness_factor: 1.0,
        normal_scale: 1.0,
        occlusion_strength: 1.0,
        emissive_factor: Vec3::ZERO,
        textures: textures.map(|texture| texture.map(info)),
        alpha_mode: AlphaMode::Opaque,
        double_sided: false,
        unlit: false,
    }
}

fn image(pixels: usize) -> Image {
    Image { name: None, format: Some(ImageFormat::Png), size: (pixels as u32, 1), pixels: vec![0x80; 4 * pixels] }
}

/// A scene of these materials and four textures, each of an image of its own. The last image was not decoded.
fn scene(materials: Vec<Material>) -> Scene {
    let sampler = Sampler {
        mag_filter: Filter::Linear,
        min_filter: Filter::Linear,
        mipmap_filter: Some(Filter::Linear),
        wrap_u: Wrap::Repeat,
        wrap_v: Wrap::Repeat,
    };
    Scene {
        materials,
        textures: (0..4).map(|index| Texture { image: Some(index), sampler }).collect(),
        images: vec![image(2), image(2), image(2), Image { size: (0, 0), ..image(0) }],
        ..Scene::default()
    }
}

#[test]
fn images_are_uploaded_once_for_each_way_they_are_used() {
    let device = tools::compute::device().expect("there is Vulkan");
    let objects = |scene: &Scene| {
        let before = device.objects_made();
        drop(Model::new(&device, scene, &scene.images).expect("it can be uploaded"));
        device.objects_made() - before
    };
    let count = |materials: Vec<Material>| objects(&scene(materials)) - objects(&scene(Vec::new()));
    // Image, view and the buffer that it is staged in.
    let one = count(vec![material([Some(0), None, None, None, None])]);
    assert_eq!(one, 3);
    assert_eq!(count(vec![material([Some(0), None, None, None, Some(0)])]), one, "sRGB twice");
    assert_eq!(count(vec![material([Some(0), None, Some(0), None, None])]), 2 * one, "sRGB and linear");
    assert_eq!(count(vec![material([None, Some(1), None, Some(1), None]); 2]), one, "linear by two materials");
    assert_eq!(count(vec![material([Some(3), None, None, None, None])]), 0, "what is not decoded");
}

#[test]
fn slots_get_their_image() {
    let device = tools::compute::device().expect("there is Vulkan");
    let scene = scene(vec![material([Some(0), Some(1), Some(0), None, Some(3)])]);
    let model = Model::new(&device, &scene, &scene.images).expect("it can be uploaded");
    let [base_color, metallic_roughness, normal, occlusion, emissive] =
        TextureSlot::ALL.map(|slot| model.texture(&scene.materials[0], slot));
    assert_eq!(occlusion.image_view, emissive.image_view, "both are white");
    let views = [base_color, metallic_roughness, normal, occlusion].map(|info| info.image_view);
    for (place, view) in views.iter().enumerate() {
        assert!(!views[..place].contains(view), "{views:?}");
    }
    assert_eq!(base_color.sampler, normal.sampler);
}
