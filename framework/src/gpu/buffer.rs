//! Buffers with their memory.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;
use bytemuck::NoUninit;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

use super::Device;

/// A buffer and the memory it lies in.
pub struct Buffer {
    handle: vk::Buffer,
    size: u64,
    // Taken only when dropped.
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Buffer {
    /// A buffer in memory that the CPU does not see. At least 16 bytes are made, for Vulkan knows no empty buffer.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str, size: u64, usage: vk::BufferUsageFlags) -> Result<Self> {
        Self::in_memory(device, name, size, usage, MemoryLocation::GpuOnly)
    }

    /// A buffer that the CPU writes and the GPU reads, mapped as long as it lives; see [`Buffer::write`].
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn mapped(device: &Arc<Device>, name: &str, size: u64, usage: vk::BufferUsageFlags) -> Result<Self> {
        Self::in_memory(device, name, size, usage, MemoryLocation::CpuToGpu)
    }

    /// A buffer that the GPU writes and the CPU reads; see [`Buffer::bytes`].
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn readable(device: &Arc<Device>, name: &str, size: u64, usage: vk::BufferUsageFlags) -> Result<Self> {
        Self::in_memory(device, name, size, usage, MemoryLocation::GpuToCpu)
    }

    fn in_memory(
        device: &Arc<Device>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let size = size.max(16);
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: `info` is valid: the size is not 0 and one queue family uses the buffer.
        let (handle, requirements) = unsafe {
            let handle =
                device.create_buffer(&info, None).with_context(|| format!("vkCreateBuffer failed for {name}"))?;
            (handle, device.get_buffer_memory_requirements(handle))
        };
        let mut buffer = Self { handle, size, allocation: None, device: device.clone() };
        let allocation = device
            .allocator()
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .with_context(|| format!("no memory for {name} ({size} bytes)"))?;
        // SAFETY: the memory was allocated for this buffer's requirements and is bound once.
        unsafe { device.bind_buffer_memory(handle, allocation.memory(), allocation.offset()) }
            .context("vkBindBufferMemory failed")?;
        buffer.allocation = Some(allocation);
        device.count_object();
        device.name(handle, name);
        Ok(buffer)
    }

    /// The handle.
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Writes `data` at a byte offset of a [`Buffer::mapped`] buffer. The GPU sees what was written before the frame is
    /// submitted; it must not be reading these bytes meanwhile, so what changes every frame exists once a frame in flight.
    ///
    /// # Panics
    ///
    /// If the data does not fit, or the buffer is not mapped.
    pub fn write<T: NoUninit>(&mut self, offset: usize, data: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        self.bytes_mut()[offset..][..bytes.len()].copy_from_slice(bytes);
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.allocation.as_mut().and_then(Allocation::mapped_slice_mut).expect("the buffer is mapped")
    }

    /// What a [`Buffer::mapped`] or [`Buffer::readable`] buffer holds, once the GPU has ended writing it and has made that
    /// visible to the host.
    ///
    /// # Panics
    ///
    /// If the buffer is neither.
    pub fn bytes(&self) -> &[u8] {
        self.allocation.as_ref().and_then(Allocation::mapped_slice).expect("the buffer is mapped")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: created by this device in `in_memory`, and not in use (see the module's documentation).
        unsafe { self.device.destroy_buffer(self.handle, None) };
        if let Some(allocation) = self.allocation.take()
            && let Err(error) = self.device.allocator().free(allocation)
        {
            eprintln!("memory could not be freed: {error}");
        }
    }
}
