//! Loading of images.

use super::accessor::{load_uri, resolve};
use super::error::{Problem, broken};
use super::import::Context;
use super::ktx2::{self, Ktx2};
use super::{Image, ImageFormat, Material, Texture, TextureSlot};
use gltf::json;
use image::{ImageDecoder, ImageReader, Limits, RgbaImage};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest width and height of an image: what common GPUs take.
const LARGEST_SIDE: u32 = 16384;

/// The most bytes that a decoded image may have: a few bytes of a file can announce any size.
const LARGEST_IMAGE: u64 = 512 << 20;

/// The most bytes of all decoded images together: so many for each byte of their files and so many for any
/// file, but not more than the third.
const GROWTH: u64 = 256;
const FLOOR: u64 = LARGEST_IMAGE;
const LARGEST_SUM: u64 = 8 << 30;

/// Decodes the images that materials use in these slots, in parallel. A file that is not there is an error; an image that
/// cannot be decoded is a warning, and the textures that name it then have none.
pub(super) fn import_images(
    context: &Context,
    materials: &[Material],
    textures: &mut [Texture],
    slots: &[TextureSlot],
) -> Result<Vec<Image>, Problem> {
    let json = &context.root.images;
    let encoded = read_images(context, &used_images(context, materials, textures, slots))?;
    let left = AtomicU64::new(budget(json, &encoded));
    let decode = |bytes: Option<Cow<[u8]>>| bytes.map(|bytes| decode(&bytes, &left)).transpose();
    let decoded: Vec<_> = encoded.into_par_iter().map(decode).collect();

    let mut images = Vec::with_capacity(decoded.len());
    for (index, (decoded, json)) in decoded.into_iter().zip(json).enumerate() {
        let decoded = decoded.unwrap_or_else(|why| {
            context.warnings.add(format!("/images/{index}"), format!("{why}; the image is left out"));
            let users = textures.iter_mut().filter(|texture| texture.image == Some(index));
            users.for_each(|texture| texture.image = None);
            None
        });
        let (format, pixels) = decoded.unzip();
        let pixels = pixels.unwrap_or_default();
        images.push(Image { name: json.name.clone(), format, size: pixels.dimensions(), pixels: pixels.into_raw() });
    }
    Ok(images)
}

/// Which images are used by a material in one of these slots.
fn used_images(context: &Context, materials: &[Material], textures: &[Texture], slots: &[TextureSlot]) -> Vec<bool> {
    let mut used = vec![false; context.root.images.len()];
    for info in materials.iter().flat_map(|material| slots.iter().filter_map(|&slot| material.texture(slot))) {
        match textures[info.texture].image {
            Some(image) => used[image] = true,
            None => {
                let at = format!("/textures/{}", info.texture);
                context.warnings.add(at, "has no source that can be read; it is left out");
            }
        }
    }
    used
}

/// The bytes of the files of the used images.
fn read_images<'a>(context: &'a Context, used: &[bool]) -> Result<Vec<Option<Cow<'a, [u8]>>>, Problem> {
    let (buffers, folder) = (context.buffers, context.folder);
    let views = context.root.buffer_views.len();
    let images: Vec<_> = context.root.images.iter().zip(used).enumerate().collect();
    let read = |(index, (image, &used)): (usize, (&json::Image, &bool))| {
        let at = format!("/images/{index}");
        Ok(match (image.buffer_view, &image.uri) {
            (Some(view), _) if used => Some(Cow::Borrowed(buffers.view(format_args!("{at}/bufferView"), view)?)),
            (Some(view), _) => {
                resolve(format_args!("{at}/bufferView"), view, "bufferViews", views)?;
                None
            }
            (None, Some(uri)) if used => {
                let bytes = load_uri(uri, folder, LARGEST_IMAGE).map_err(|why| broken(format!("{at}/uri"), why))?;
                Some(Cow::Owned(bytes))
            }
            (None, None) if used => Some(Cow::Borrowed(&[][..])),
            _ => None,
        })
    };
    // First all, then the first error: which one is told does not depend on the threads.
    images.into_par_iter().map(read).collect::<Vec<_>>().into_iter().collect()
}

/// How many bytes decoded images may take, by the size of their files. What is named twice is counted once.
fn budget(images: &[json::Image], encoded: &[Option<Cow<[u8]>>]) -> u64 {
    let mut known = HashSet::new();
    let distinct = images.iter().zip(encoded).filter(|(image, _)| known.insert((image.buffer_view, &image.uri)));
    let size: u64 = distinct.filter_map(|(_, bytes)| bytes.as_ref()).map(|bytes| bytes.len() as u64).sum();
    size.saturating_mul(GROWTH).saturating_add(FLOOR).min(LARGEST_SUM)
}

/// Decodes a PNG, JPEG, WebP or KTX 2, told apart by their first bytes: stated MIME types are often wrong.
fn decode(bytes: &[u8], left: &AtomicU64) -> Result<(ImageFormat, RgbaImage), String> {
    if bytes.is_empty() {
        return Err("has no data".into());
    }
    if ktx2::is_ktx2(bytes) {
        return Ok((ImageFormat::Ktx2, decode_ktx2(bytes, left)?));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    let format = match reader.format() {
        Some(image::ImageFormat::Png) => ImageFormat::Png,
        Some(image::ImageFormat::Jpeg) => ImageFormat::Jpeg,
        Some(image::ImageFormat::WebP) => ImageFormat::WebP,
        _ => return Err("is none of PNG, JPEG, WebP and KTX 2".into()),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(LARGEST_IMAGE);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(|error| format!("cannot be decoded: {error}"))?;
    // Not all decoders keep to the limits: the size has to be looked at before they begin.
    take(decoder.dimensions(), left)?;
    let image = image::DynamicImage::from_decoder(decoder).map_err(|error| format!("cannot be decoded: {error}"))?;
    Ok((format, image.into_rgba8()))
}

fn decode_ktx2(bytes: &[u8], left: &AtomicU64) -> Result<RgbaImage, String> {
    let image = Ktx2::parse(bytes)?;
    let (width, height) = image.size;
    take(image.size, left)?;
    RgbaImage::from_raw(width, height, image.decode()?).ok_or_else(|| "has fewer pixels than it says".into())
}

/// Takes the room for an image of this size off what is left.
fn take((width, height): (u32, u32), left: &AtomicU64) -> Result<(), String> {
    let size = 4 * u64::from(width) * u64::from(height);
    let is_large = width.max(height) > LARGEST_SIDE || size > LARGEST_IMAGE;
    let take = |left: u64| left.checked_sub(size);
    if is_large || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
        return Err(format!("its {width} x {height} pixels are too many"));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;
    use image::{DynamicImage, ImageBuffer, Luma, LumaA, Rgb};

    fn through_png(image: impl Into<DynamicImage>) -> RgbaImage {
        let mut bytes = Vec::new();
        image.into().write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
        let (format, image) = decode(&bytes, &AtomicU64::new(1000)).unwrap();
        assert_eq!(format, ImageFormat::Png);
        image
    }

    #[test]
    fn every_form_becomes_rgba8() {
        let pixel = |image: RgbaImage| image.get_pixel(0, 0).0;
        assert_eq!(pixel(through_png(ImageBuffer::from_pixel(1, 1, Luma([7_u8])))), [7, 7, 7, 255]);
        assert_eq!(pixel(through_png(ImageBuffer::from_pixel(1, 1, LumaA([7_u8, 9])))), [7, 7, 7, 9]);
        assert_eq!(pixel(through_png(ImageBuffer::from_pixel(1, 1, Luma([0xffff_u16])))), [255; 4]);
        assert_eq!(pixel(through_png(ImageBuffer::from_pixel(1, 1, Rgb([0_u16, 0x0101, 0xffff])))), [0, 1, 255, 255]);
    }

    #[test]
    fn the_sum_of_all_images_is_limited() {
        let mut bytes = Vec::new();
        DynamicImage::new_rgb8(10, 10).write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Jpeg).unwrap();
        let left = AtomicU64::new(700);
        assert!(decode(&bytes, &left).is_ok());
        assert!(decode(&bytes, &left).unwrap_err().contains("10 x 10"));
    }

    #[test]
    fn other_formats_are_named_as_such() {
        let left = AtomicU64::new(0);
        assert!(decode(b"BM..............", &left).unwrap_err().contains("none of PNG, JPEG, WebP and KTX 2"));
        assert_eq!(decode(b"", &left).unwrap_err(), "has no data");
    }
}
