//! Loading of images.

use super::accessor::{Buffers, load_uri, resolve};
use super::error::{Problem, broken};
use super::import::Context;
use super::{Image, Material, Texture};
use gltf::json;
use image::{ImageDecoder, ImageReader, Limits, RgbaImage};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::borrow::Cow;
use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest width and height of an image: what common GPUs take.
const LARGEST_SIDE: u32 = 16384;

/// The most bytes that a decoded image may have: a few bytes of a file can announce any size.
const LARGEST_IMAGE: u64 = 512 << 20;

/// The most bytes of all decoded images together.
const LARGEST_SUM: u64 = 4 << 30;

/// Decodes the images that materials use, in parallel. A file that is not there is an error; an image that
/// cannot be decoded is a warning, and the textures that name it then have none.
pub(super) fn import_images(
    context: &Context,
    materials: &[Material],
    textures: &mut [Texture],
) -> Result<Vec<Image>, Problem> {
    let (root, buffers, folder) = (context.root, context.buffers, context.folder);
    let mut used = vec![false; root.images.len()];
    for info in materials
        .iter()
        .filter_map(|material| material.base_color_texture)
    {
        match textures[info.texture].image {
            Some(image) => used[image] = true,
            None => context.warnings.add(
                format!("/textures/{}", info.texture),
                "has no source that can be read; it is left out",
            ),
        }
    }
    for (index, image) in root.images.iter().enumerate() {
        if let Some(view) = image.buffer_view {
            resolve(
                &format!("/images/{index}/bufferView"),
                view,
                "bufferViews",
                root.buffer_views.len(),
            )?;
        }
    }
    let left = AtomicU64::new(LARGEST_SUM);
    let decode_used = |(index, json): (usize, &json::Image)| {
        if !used[index] {
            return Ok(Ok(RgbaImage::default()));
        }
        let bytes = encoded(buffers, folder, &format!("/images/{index}"), json)?;
        let bytes = bytes.ok_or_else(|| "has neither a uri nor a bufferView".to_owned());
        Ok(bytes.and_then(|bytes| decode(&bytes, &left)))
    };
    let jobs: Vec<_> = root.images.iter().enumerate().collect();
    let decoded: Vec<_> = jobs
        .into_par_iter()
        .map(decode_used)
        .collect::<Result<_, Problem>>()?;

    let mut images = Vec::with_capacity(decoded.len());
    for (index, (decoded, json)) in decoded.into_iter().zip(&root.images).enumerate() {
        let pixels = decoded.unwrap_or_else(|why| {
            context.warnings.add(
                format!("/images/{index}"),
                format!("{why}; the image is left out"),
            );
            RgbaImage::default()
        });
        if used[index] && pixels.is_empty() {
            textures
                .iter_mut()
                .filter(|texture| texture.image == Some(index))
                .for_each(|texture| texture.image = None);
        }
        images.push(Image {
            name: json.name.clone(),
            size: pixels.dimensions(),
            pixels: pixels.into_raw(),
        });
    }
    Ok(images)
}

/// The bytes of an image's file; `None` where the image says nothing of them.
fn encoded<'a>(
    buffers: &'a Buffers,
    folder: &Path,
    at: &str,
    image: &json::Image,
) -> Result<Option<Cow<'a, [u8]>>, Problem> {
    match (image.buffer_view, &image.uri) {
        (Some(view), _) => buffers
            .view(&format!("{at}/bufferView"), view)
            .map(|bytes| Some(Cow::Borrowed(bytes))),
        (None, Some(uri)) => match load_uri(uri, folder, LARGEST_IMAGE) {
            Ok(bytes) => Ok(Some(Cow::Owned(bytes))),
            Err(why) => Err(broken(format!("{at}/uri"), why)),
        },
        (None, None) => Ok(None),
    }
}

/// Decodes a PNG or JPEG, told apart by their first bytes: stated MIME types are often wrong.
fn decode(bytes: &[u8], left: &AtomicU64) -> Result<RgbaImage, String> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    if reader
        .format()
        .is_none_or(|format| !format.reading_enabled())
    {
        return Err("is neither a PNG nor a JPEG".into());
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST_SIDE);
    limits.max_image_height = Some(LARGEST_SIDE);
    limits.max_alloc = Some(LARGEST_IMAGE);
    reader.limits(limits);
    let decoder = reader
        .into_decoder()
        .map_err(|error| format!("cannot be decoded: {error}"))?;
    let (width, height) = decoder.dimensions();
    let size = 4 * u64::from(width) * u64::from(height);
    let take = |left: u64| left.checked_sub(size);
    if size > LARGEST_IMAGE
        || left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_err()
    {
        return Err(format!("its {width} x {height} pixels are too many"));
    }
    let image = image::DynamicImage::from_decoder(decoder)
        .map_err(|error| format!("cannot be decoded: {error}"))?;
    Ok(image.into_rgba8())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail that way.
mod tests {
    use super::*;
    use image::{DynamicImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb};

    fn through_png(image: impl Into<DynamicImage>) -> RgbaImage {
        let mut bytes = Vec::new();
        image
            .into()
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .unwrap();
        decode(&bytes, &AtomicU64::new(1000)).unwrap()
    }

    #[test]
    fn every_form_becomes_rgba8() {
        let pixel = |image: RgbaImage| image.get_pixel(0, 0).0;
        assert_eq!(
            pixel(through_png(ImageBuffer::from_pixel(1, 1, Luma([7_u8])))),
            [7, 7, 7, 255]
        );
        assert_eq!(
            pixel(through_png(ImageBuffer::from_pixel(1, 1, LumaA([7_u8, 9])))),
            [7, 7, 7, 9]
        );
        assert_eq!(
            pixel(through_png(ImageBuffer::from_pixel(
                1,
                1,
                Luma([0xffff_u16])
            ))),
            [255; 4]
        );
        assert_eq!(
            pixel(through_png(ImageBuffer::from_pixel(
                1,
                1,
                Rgb([0_u16, 0x0101, 0xffff])
            ))),
            [0, 1, 255, 255]
        );
    }

    #[test]
    fn the_sum_of_all_images_is_limited() {
        let mut bytes = Vec::new();
        DynamicImage::new_rgb8(10, 10)
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Jpeg)
            .unwrap();
        let left = AtomicU64::new(700);
        assert!(decode(&bytes, &left).is_ok());
        assert!(decode(&bytes, &left).unwrap_err().contains("10 x 10"));
    }

    #[test]
    fn other_formats_are_named_as_such() {
        let left = AtomicU64::new(0);
        assert!(
            decode(b"RIFF....WEBPVP8L", &left)
                .unwrap_err()
                .contains("neither a PNG nor a JPEG")
        );
        assert!(
            decode(b"", &left)
                .unwrap_err()
                .contains("neither a PNG nor a JPEG")
        );
    }
}
