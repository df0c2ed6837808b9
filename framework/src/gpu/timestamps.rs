//! How long the GPU takes for each pass of a frame.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;

use super::{Device, FRAMES_IN_FLIGHT, Label, Owned};

/// The most passes that are timed in a frame; more are not.
const MOST_PASSES: usize = 32;

/// Two timestamps for each pass of each frame in flight.
pub struct Timestamps {
    slots: Vec<Slot>,
    /// Milliseconds a tick.
    period: f64,
    /// The bits of a timestamp that count.
    mask: u64,
    device: Arc<Device>,
}

struct Slot {
    pool: Owned<vk::QueryPool>,
    /// The passes begun, in order; the one at `i` has the queries `2 * i` and `2 * i + 1`.
    names: RefCell<Vec<&'static CStr>>,
}

impl Timestamps {
    /// `None` where the device's queue has no timestamps.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn new(device: &Arc<Device>) -> Result<Option<Self>> {
        let bits = device.timestamp_valid_bits();
        if bits == 0 {
            return Ok(None);
        }
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2 * MOST_PASSES as u32);
        let slots = (0..FRAMES_IN_FLIGHT)
            .map(|_| {
                // SAFETY: the create-info is valid.
                let pool = unsafe { device.create_query_pool(&info, None) }.context("vkCreateQueryPool failed")?;
                let names = RefCell::new(Vec::with_capacity(MOST_PASSES));
                Ok(Slot { pool: device.own(pool, "timestamps"), names })
            })
            .collect::<Result<_>>()?;
        let period = f64::from(device.physical().properties.limits.timestamp_period) * 1e-6;
        Ok(Some(Self { slots, period, mask: u64::MAX >> (64 - bits), device: device.clone() }))
    }

    /// Milliseconds of each pass of the last frame of this index, which the GPU has ended, in the order in which they
    /// began. The next frame of the index begins with none; read this before it.
    ///
    /// # Errors
    ///
    /// A lost device.
    pub fn read(&self, index: usize, mut pass: impl FnMut(&'static CStr, f32)) -> Result<()> {
        let slot = &self.slots[index];
        let mut names = slot.names.borrow_mut();
        if names.is_empty() {
            return Ok(());
        }
        let mut ticks = [[0_u64; 2]; MOST_PASSES];
        let flags = vk::QueryResultFlags::TYPE_64;
        let ticks = &mut ticks[..names.len()];
        // SAFETY: the frame has ended, so each of these queries was written; the pool is the device's.
        unsafe { self.device.get_query_pool_results(*slot.pool, 0, ticks.as_flattened_mut(), flags) }
            .context("vkGetQueryPoolResults failed")?;
        for (name, [begin, end]) in names.drain(..).zip(ticks) {
            let ticks = end.wrapping_sub(*begin) & self.mask;
            pass(name, (ticks as f64 * self.period) as f32);
        }
        Ok(())
    }

    /// Makes the queries of a frame ready; at the beginning of its command buffer.
    pub fn reset(&self, index: usize, commands: vk::CommandBuffer) {
        let pool = *self.slots[index].pool;
        // SAFETY: the command buffer is in recording state, outside of any render pass.
        unsafe { self.device.cmd_reset_query_pool(commands, pool, 0, 2 * MOST_PASSES as u32) };
    }

    fn write(&self, index: usize, commands: vk::CommandBuffer, query: u32) {
        let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
        // SAFETY: the command buffer is in recording state; the query was reset at its beginning and is written once.
        unsafe { self.device.cmd_write_timestamp2(commands, stage, *self.slots[index].pool, query) };
    }
}

/// A pass: a debug label, and timestamps where they are taken. It ends when dropped.
pub struct Pass<'a> {
    end: Option<(&'a Timestamps, usize, u32)>,
    commands: vk::CommandBuffer,
    _label: Label<'a>,
}

impl<'a> Pass<'a> {
    /// Begins a pass in a command buffer that is being recorded, and is still so when the pass is dropped. `timestamps`
    /// come with the index of the frame in flight.
    pub fn new(
        device: &'a Device,
        commands: vk::CommandBuffer,
        name: &'static CStr,
        timestamps: Option<(&'a Timestamps, usize)>,
    ) -> Self {
        let label = Label::new(device, commands, name);
        let end = timestamps.and_then(|(timestamps, index)| {
            let mut names = timestamps.slots[index].names.borrow_mut();
            let first = 2 * names.len() as u32;
            if names.len() == MOST_PASSES {
                return None;
            }
            names.push(name);
            timestamps.write(index, commands, first);
            Some((timestamps, index, first + 1))
        });
        Self { end, commands, _label: label }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if let Some((timestamps, index, query)) = self.end {
            timestamps.write(index, self.commands, query);
        }
    }
}
