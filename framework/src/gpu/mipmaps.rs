//! Mip levels made by the CPU, for devices that are one: a software driver compiles code for every kind of blit anew at each
//! start, which takes longer than making the levels.

use std::sync::LazyLock;

use ash::vk;
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// The linear value of a byte, and back: the transfer function of a channel.
struct Transfer {
    decoded: [f32; 256],
    /// The byte that is nearest in its encoding, for each 1/65535 of linear light.
    encoded: Vec<u8>,
}

static SRGB: LazyLock<Transfer> = LazyLock::new(|| {
    Transfer::new(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) // IEC 61966-2-1
});
static LINEAR: LazyLock<Transfer> = LazyLock::new(|| Transfer::new(|c| c));

impl Transfer {
    fn new(decode: impl Fn(f32) -> f32) -> Self {
        let mut encoded = Vec::with_capacity(1 << 16);
        for byte in 0..=u8::MAX {
            // The values up to half-way to the next byte.
            let end = match byte {
                u8::MAX => 1 << 16,
                _ => (decode((f32::from(byte) + 0.5) / 255.0) * 65535.0).ceil() as usize,
            };
            encoded.resize(end, byte);
        }
        Self { decoded: std::array::from_fn(|byte| decode(byte as f32 / 255.0)), encoded }
    }
}

/// A texel as linear values; alpha is linear already.
fn decode(&[red, green, blue, alpha]: &[u8; 4], colors: &Transfer) -> Vec4 {
    let color = |byte: u8| colors.decoded[usize::from(byte)];
    Vec4::new(color(red), color(green), color(blue), f32::from(alpha) / 255.0)
}

fn encode(value: Vec4, colors: &Transfer) -> [u8; 4] {
    let [red, green, blue, alpha] = (value * Vec3::splat(65535.0).extend(255.0) + 0.5).as_ivec4().to_array();
    let color = |value: i32| colors.encoded[(value as usize).min(0xffff)];
    [color(red), color(green), color(blue), alpha.min(255) as u8]
}

/// Up to three texels of a row or column that one texel of the next level covers, with the share of each.
struct Taps {
    first: usize,
    shares: [f32; 3],
    count: usize,
}

/// What each texel of the next level covers along one axis: two texels of an even length, parts of three of an odd one.
fn taps(length: usize) -> Vec<Taps> {
    let half = (length / 2).max(1);
    let covered = length as f32 / half as f32;
    let tap = |index: usize| {
        let (start, end) = (index as f32 * covered, (index + 1) as f32 * covered);
        let first = start as usize;
        let count = (length - first).min(if length.is_multiple_of(2) { 2 } else { 3 });
        let share = |texel: usize| {
            let texel = (first + texel) as f32;
            ((end.min(texel + 1.0) - start.max(texel)) / covered).max(0.0)
        };
        Taps { first, shares: [share(0), share(1), share(2)], count }
    };
    (0..half).map(tap).collect()
}

/// Writes the next smaller level of an RGBA image of 8 bits a channel: each texel the mean of what it covers. `colors` is
/// the transfer of red, green and blue; alpha is linear.
fn next_level(texels: &[u8], (width, height): (usize, usize), colors: &Transfer, next: &mut [u8]) {
    let (columns, rows) = (taps(width), taps(height));
    let rows = next.par_chunks_exact_mut(columns.len() * 4).zip(&rows);
    // A row that is as high as those it covers, and then each texel as wide.
    rows.for_each_init(
        || vec![Vec4::ZERO; width],
        |covered, (next, row)| {
            covered.fill(Vec4::ZERO);
            let covered_rows = texels[row.first * width * 4..].chunks_exact(width * 4).take(row.count);
            for (texels, share) in covered_rows.zip(row.shares) {
                for (sum, texel) in covered.iter_mut().zip(texels.as_chunks().0) {
                    *sum += share * decode(texel, colors);
                }
            }
            for (texel, column) in next.as_chunks_mut().0.iter_mut().zip(&columns) {
                let covered = &covered[column.first..][..column.count];
                let sum = covered.iter().zip(column.shares).map(|(&value, share)| share * value).sum();
                *texel = encode(sum, colors);
            }
        },
    );
}

/// All levels below the first of an RGBA image, as many as `levels` says with it, one after the other.
pub(super) fn smaller_levels(texels: &[u8], extent: vk::Extent2D, srgb: bool, levels: u32) -> Vec<u8> {
    let colors = if srgb { &*SRGB } else { &*LINEAR };
    let mut size = (extent.width as usize, extent.height as usize);
    let mut all = Vec::with_capacity(texels.len() / 3);
    let mut last = 0;
    for level in 1..levels {
        let next_size = ((size.0 / 2).max(1), (size.1 / 2).max(1));
        let start = all.len();
        all.resize(start + next_size.0 * next_size.1 * 4, 0);
        let (above, next) = all.split_at_mut(start);
        next_level(if level == 1 { texels } else { &above[last..] }, size, colors, next);
        (size, last) = (next_size, start);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn extent(width: u32, height: u32) -> vk::Extent2D {
        vk::Extent2D { width, height }
    }

    #[test]
    fn colours_are_averaged_in_linear_light_and_alpha_as_it_is() {
        let texels = [[0, 0, 0, 0], [255; 4]].concat();
        // sRGB encodes one half as 187.516 / 255 (IEC 61966-2-1).
        assert_eq!(smaller_levels(&texels, extent(2, 1), true, 2), [188, 188, 188, 128]);
        assert_eq!(smaller_levels(&texels, extent(2, 1), false, 2), [128; 4]);
    }

    #[test]
    fn an_odd_length_loses_nothing() {
        let texels: Vec<u8> = [30, 60, 90, 120, 150].into_iter().flat_map(|value| [value; 4]).collect();
        // Each covers two and a half: (30 + 60 + 90 / 2) / 2.5 and (90 / 2 + 120 + 150) / 2.5, and then the mean of both.
        let expected = [54, 126, 90].into_iter().flat_map(|value| [value; 4]).collect::<Vec<u8>>();
        assert_eq!(smaller_levels(&texels, extent(5, 1), false, 3), expected);
        assert_eq!(smaller_levels(&texels, extent(1, 5), false, 3), expected);
    }

    #[test]
    fn what_is_all_alike_stays_as_it_is() {
        for byte in 0..=u8::MAX {
            assert_eq!(smaller_levels(&[byte; 7 * 3 * 4], extent(7, 3), true, 3), [byte; (3 + 1) * 4]);
        }
    }
}
