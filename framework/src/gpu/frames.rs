//! Frames in flight: the CPU records one while the GPU draws the other.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;

use super::{Device, Owned};

/// How many frames are in flight. What the CPU writes every frame exists this often.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// What one frame in flight has for itself.
struct Slot {
    pool: Owned<vk::CommandPool>,
    commands: vk::CommandBuffer,
    /// Signalled when the GPU has ended the frame.
    ended: Owned<vk::Fence>,
    /// Signalled when the acquired image may be drawn to.
    available: Owned<vk::Semaphore>,
}

/// The frames in flight, taken in turn.
pub struct Frames {
    slots: Vec<Slot>,
    index: usize,
    device: Arc<Device>,
}

impl Frames {
    /// [`FRAMES_IN_FLIGHT`] frames, none of them submitted.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let slots = (0..FRAMES_IN_FLIGHT).map(|_| Slot::new(device)).collect::<Result<_>>()?;
        Ok(Self { slots, index: 0, device: device.clone() })
    }

    /// The index of the frame at hand, below [`FRAMES_IN_FLIGHT`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// The semaphore to acquire an image with in this frame.
    pub fn available(&self) -> vk::Semaphore {
        *self.slots[self.index].available
    }

    /// Waits until the GPU has ended the last use of the frame at hand.
    ///
    /// # Errors
    ///
    /// A lost device.
    pub fn wait(&self) -> Result<()> {
        let slot = &self.slots[self.index];
        // SAFETY: the fence is alive; it is signalled or will be, since `submit` resets it only to submit it.
        unsafe { self.device.wait_for_fences(&[*slot.ended], true, u64::MAX) }.context("vkWaitForFences failed")
    }

    /// Begins the command buffer of the frame at hand, after [`Frames::wait`].
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn begin(&self) -> Result<vk::CommandBuffer> {
        let slot = &self.slots[self.index];
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: `wait` has seen the GPU end the last use of the pool's only command buffer.
        unsafe {
            self.device
                .reset_command_pool(*slot.pool, vk::CommandPoolResetFlags::empty())
                .context("vkResetCommandPool failed")?;
            self.device.begin_command_buffer(slot.commands, &info).context("vkBeginCommandBuffer failed")?;
        }
        Ok(slot.commands)
    }

    /// Ends and submits the command buffer of the frame at hand, and goes on to the next frame. With a present semaphore,
    /// which is signalled at the end, colour output waits until the image that was acquired is available.
    ///
    /// # Errors
    ///
    /// A lost device.
    pub fn submit(&mut self, present_semaphore: Option<vk::Semaphore>) -> Result<()> {
        let slot = &self.slots[self.index];
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(slot.commands)];
        let wait = [vk::SemaphoreSubmitInfo::default()
            .semaphore(*slot.available)
            .stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)];
        let signal = [vk::SemaphoreSubmitInfo::default()
            .semaphore(present_semaphore.unwrap_or_default())
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let mut info = vk::SubmitInfo2::default().command_buffer_infos(&commands);
        if present_semaphore.is_some() {
            info = info.wait_semaphore_infos(&wait).signal_semaphore_infos(&signal);
        }
        // SAFETY: the command buffer is in recording state; the fence is signalled and nobody waits for it; where an image
        // was acquired, its semaphore will be signalled, and the present semaphore is free since the image was presented.
        unsafe {
            self.device.end_command_buffer(slot.commands).context("vkEndCommandBuffer failed")?;
            self.device.reset_fences(&[*slot.ended]).context("vkResetFences failed")?;
            self.device.queue_submit2(self.device.queue(), &[info], *slot.ended).context("vkQueueSubmit2 failed")?;
        }
        self.index = (self.index + 1) % self.slots.len();
        Ok(())
    }
}

impl Slot {
    fn new(device: &Arc<Device>) -> Result<Self> {
        let pool_info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(device.queue_family());
        let fence_info = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
        // SAFETY: the queue family is the device's.
        let (pool, ended, available) = unsafe {
            (
                device.create_command_pool(&pool_info, None).context("vkCreateCommandPool failed")?,
                device.create_fence(&fence_info, None).context("vkCreateFence failed")?,
                device.create_semaphore(&Default::default(), None).context("vkCreateSemaphore failed")?,
            )
        };
        let pool = device.own(pool, "frame");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(*pool).command_buffer_count(1);
        // SAFETY: the pool is alive and used by this thread only.
        let commands = unsafe { device.allocate_command_buffers(&info) }.context("vkAllocateCommandBuffers failed")?[0];
        device.name(commands, "frame");
        Ok(Self {
            commands,
            pool,
            ended: device.own(ended, "frame ended"),
            available: device.own(available, "image available"),
        })
    }
}
