//! Shader functions run on the GPU and read back: what samples include is what is tested.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use ash::vk;
use ashwright::gpu::{
    Buffer, DescriptorSetLayout, DescriptorSets, Device, GpuChoice, Instance, MessageCount, Upload, Validation,
};

use crate::sample::SOFTWARE_GPU;

/// A device without a window, the software driver's where there is one.
///
/// # Errors
///
/// No Vulkan.
pub fn device() -> Result<Arc<Device>> {
    let instance = Instance::new("test", Validation::Off, MessageCount::default(), None)?;
    let software = instance.physical_devices()?.iter().any(|gpu| gpu.name().contains(SOFTWARE_GPU));
    let choice = if software { GpuChoice::Name(SOFTWARE_GPU.to_owned()) } else { GpuChoice::Best };
    Device::new(&instance, &choice, None, &[], &[])
}

/// Runs a compute shader's `main` over `groups` workgroups and returns what it wrote.
///
/// `source` is GLSL and may include what lies in `shaders/lib`. Binding `i` of set 0 is a storage buffer of `inputs[i]`;
/// the binding after them one of `output_size` bytes.
///
/// # Errors
///
/// The shader compiler's messages, or Vulkan's errors.
pub fn run(device: &Arc<Device>, source: &str, inputs: &[&[u8]], output_size: usize, groups: u32) -> Result<Vec<u8>> {
    run_named(device, "test.comp", source, inputs, output_size, groups)
}

/// As [`run`], with `source` in HLSL.
///
/// # Errors
///
/// As [`run`].
pub fn run_hlsl(
    device: &Arc<Device>,
    source: &str,
    inputs: &[&[u8]],
    output_size: usize,
    groups: u32,
) -> Result<Vec<u8>> {
    run_named(device, "test.comp.hlsl", source, inputs, output_size, groups)
}

/// Runs the text of a shader file, whose name tells the language.
fn run_named(
    device: &Arc<Device>,
    name: &str,
    source: &str,
    inputs: &[&[u8]],
    output_size: usize,
    groups: u32,
) -> Result<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders");
    let words =
        shader_compiler::compile_source(&root, &format!("test/{name}"), source, true).map_err(|e| anyhow!(e))?;
    let module = device.shader_module(&words, name)?;

    let mut upload = Upload::new(device)?;
    let mut buffers = inputs
        .iter()
        .map(|input| upload.buffer("input", vk::BufferUsageFlags::STORAGE_BUFFER, input))
        .collect::<Result<Vec<_>>>()?;
    upload.finish()?;
    buffers.push(Buffer::readable(device, "output", output_size as u64, vk::BufferUsageFlags::STORAGE_BUFFER)?);

    let bindings: Vec<_> = (0..buffers.len() as u32)
        .map(|binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let set_layout = DescriptorSetLayout::new(device, "test", &bindings)?;
    let sets = DescriptorSets::new(device, "test", &set_layout, 1)?;
    for (binding, buffer) in (0..).zip(&buffers) {
        let info = [vk::DescriptorBufferInfo::default().buffer(buffer.handle()).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[0])
            .dst_binding(binding)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: set and buffer are alive and not in use.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }

    let set_layouts = [*set_layout];
    let layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: the set layout is alive.
    let layout =
        unsafe { device.create_pipeline_layout(&layout_info, None) }.context("vkCreatePipelineLayout failed")?;
    let layout = device.own(layout, "test");
    let stage =
        vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(*module).name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(*layout)];
    // SAFETY: module and layout are alive.
    let pipelines = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    let pipeline = pipelines.map_err(|(_, error)| error).context("vkCreateComputePipelines failed")?[0];
    let pipeline = device.own(pipeline, "test");

    let frames = ashwright::gpu::Frames::new(device)?;
    dispatch(device, frames, (*pipeline, *layout, sets[0]), groups)?;
    Ok(buffers[inputs.len()].bytes()[..output_size].to_vec())
}

fn dispatch(
    device: &Device,
    mut frames: ashwright::gpu::Frames,
    (pipeline, layout, set): (vk::Pipeline, vk::PipelineLayout, vk::DescriptorSet),
    groups: u32,
) -> Result<()> {
    let commands = frames.begin()?;
    let barrier = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::HOST_READ)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barrier);
    let compute = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: the command buffer is being recorded, and all that it uses lives until the wait below.
    unsafe {
        device.cmd_bind_pipeline(commands, compute, pipeline);
        device.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
        device.cmd_dispatch(commands, groups, 1, 1);
        device.cmd_pipeline_barrier2(commands, &dependency);
    }
    frames.submit(None)?;
    device.wait_idle()
}
