//! Graphics pipelines that are no sample's topic.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;

use super::{Device, Owned};

/// A pipeline of the framework's own, for subpass 0 of a render pass with one colour attachment and depth, by the states in
/// which such pipelines differ. A sample writes its create-infos itself.
#[derive(Clone, Copy)]
pub(crate) struct GraphicsPipeline<'a> {
    pub(crate) name: &'a str,
    /// The SPIR-V words of the vertex and the fragment shader, whose entry points are called `main`.
    pub(crate) shaders: [&'a [u32]; 2],
    /// Their constants.
    pub(crate) specializations: [vk::SpecializationInfo<'a>; 2],
    pub(crate) vertex_input: vk::PipelineVertexInputStateCreateInfo<'a>,
    pub(crate) topology: vk::PrimitiveTopology,
    pub(crate) cull_mode: vk::CullModeFlags,
    pub(crate) depth_test: bool,
    pub(crate) depth_write: bool,
    /// Whether alpha blends over what is there.
    pub(crate) blend: bool,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) alpha_to_coverage: bool,
    /// What is set while recording: these, viewport and scissor.
    pub(crate) dynamic_states: &'a [vk::DynamicState],
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) render_pass: vk::RenderPass,
}

impl Default for GraphicsPipeline<'_> {
    fn default() -> Self {
        Self {
            name: "",
            shaders: [&[]; 2],
            specializations: Default::default(),
            vertex_input: Default::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            cull_mode: vk::CullModeFlags::NONE,
            depth_test: true,
            depth_write: true,
            blend: false,
            samples: vk::SampleCountFlags::TYPE_1,
            alpha_to_coverage: false,
            dynamic_states: &[],
            layout: vk::PipelineLayout::null(),
            render_pass: vk::RenderPass::null(),
        }
    }
}

impl GraphicsPipeline<'_> {
    /// Makes it.
    pub(crate) fn create(&self, device: &Arc<Device>) -> Result<Owned<vk::Pipeline>> {
        let [vertex, fragment] = self.shaders.map(|words| device.shader_module(words, self.name));
        let (vertex, fragment) = (vertex?, fragment?);
        let stages = [(vk::ShaderStageFlags::VERTEX, *vertex), (vk::ShaderStageFlags::FRAGMENT, *fragment)];
        let [vertex_constants, fragment_constants] = &self.specializations;
        let [vertex_stage, fragment_stage] = stages.map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
        });
        let stages = [
            vertex_stage.specialization_info(vertex_constants),
            fragment_stage.specialization_info(fragment_constants),
        ];
        let input_assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(self.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(self.cull_mode)
            .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
            .line_width(1.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(self.samples)
            .alpha_to_coverage_enable(self.alpha_to_coverage);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(self.depth_test)
            .depth_write_enable(self.depth_write)
            .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        let blend_attachments = [vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(self.blend)
            .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend_attachments);
        let dynamic_states = [&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR], self.dynamic_states].concat();
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&self.vertex_input)
            .input_assembly_state(&input_assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .render_pass(self.render_pass);
        // SAFETY: all that `info` points to is alive, and the shaders match layout and vertex input.
        let pipelines = unsafe { device.create_graphics_pipelines(device.pipeline_cache(), &[info], None) };
        let pipeline = pipelines
            .map_err(|(_, error)| error)
            .with_context(|| format!("vkCreateGraphicsPipelines failed for {}", self.name))?[0];
        Ok(device.own(pipeline, self.name))
    }
}
