//! Descriptor set layouts and sets.

use std::ops::{Deref, Index};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use ash::vk;

use super::{Device, Owned};

/// A descriptor set layout that remembers its bindings, so that a pool of the right size can be made for its sets.
pub struct DescriptorSetLayout {
    handle: Owned<vk::DescriptorSetLayout>,
    sizes: Vec<vk::DescriptorPoolSize>,
}

impl DescriptorSetLayout {
    /// Makes the layout of these bindings.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(device: &Arc<Device>, name: &str, bindings: &[vk::DescriptorSetLayoutBinding<'_>]) -> Result<Self> {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
        // SAFETY: the bindings and what they point to live through the call.
        let handle = unsafe { device.create_descriptor_set_layout(&info, None) }
            .with_context(|| format!("vkCreateDescriptorSetLayout failed for {name}"))?;
        let sizes = bindings
            .iter()
            .map(|binding| {
                vk::DescriptorPoolSize::default().ty(binding.descriptor_type).descriptor_count(binding.descriptor_count)
            })
            .collect();
        Ok(Self { handle: device.own(handle, name), sizes })
    }
}

impl Deref for DescriptorSetLayout {
    type Target = vk::DescriptorSetLayout;

    fn deref(&self) -> &vk::DescriptorSetLayout {
        &self.handle
    }
}

/// Descriptor sets of one layout, in a pool of their own that just holds them. `sets[i]` is a handle.
pub struct DescriptorSets {
    sets: Vec<vk::DescriptorSet>,
    _pool: Owned<vk::DescriptorPool>,
}

impl DescriptorSets {
    /// Makes `count` sets. Their bindings are unwritten: every one must be written before the set is bound.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str, layout: &DescriptorSetLayout, count: usize) -> Result<Self> {
        // A pool of no sets is not legal.
        let room = count.max(1) as u32;
        let sizes: Vec<_> =
            layout.sizes.iter().map(|size| size.descriptor_count(size.descriptor_count * room)).collect();
        let pool_info = vk::DescriptorPoolCreateInfo::default().max_sets(room).pool_sizes(&sizes);
        // SAFETY: the sizes are those of the layout, which is alive.
        let pool = unsafe { device.create_descriptor_pool(&pool_info, None) }
            .with_context(|| format!("vkCreateDescriptorPool failed for {name}"))?;
        let pool = device.own(pool, name);
        if count == 0 {
            return Ok(Self { sets: Vec::new(), _pool: pool });
        }
        let layouts = vec![**layout; count];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(*pool).set_layouts(&layouts);
        // SAFETY: pool and layout are alive, and the pool was made for just these sets.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }
            .with_context(|| format!("vkAllocateDescriptorSets failed for {name}"))?;
        for &set in &sets {
            device.name(set, name);
        }
        Ok(Self { sets, _pool: pool })
    }

    /// The sets, in order.
    pub fn iter(&self) -> impl Iterator<Item = vk::DescriptorSet> + '_ {
        self.sets.iter().copied()
    }
}

impl Index<usize> for DescriptorSets {
    type Output = vk::DescriptorSet;

    fn index(&self, index: usize) -> &vk::DescriptorSet {
        &self.sets[index]
    }
}
