//! Reading accessors: typed arrays out of buffers, with every range checked.

use super::compressed;
use super::document::{Accessor, Document};
use super::error::{Problem, broken};
use super::file::{self, Uri};
use gltf::json::accessor::{ComponentType, GenericComponentType, IndexComponentType, Type};
use gltf::json::validation::Checked;
use gltf::json::{self, Index};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Resolves an index into an array of the file that has `len` elements.
pub(super) fn resolve<T>(at: impl Display, index: Index<T>, array: &str, len: usize) -> Result<usize, Problem> {
    match index.value() {
        value if value < len => Ok(value),
        value => Err(dangling(at, value, array, len)),
    }
}

/// The error of an index to nothing.
pub(super) fn dangling(at: impl Display, index: usize, array: &str, len: usize) -> Problem {
    broken(at, format!("refers to /{array}/{index}, but that array has length {len}"))
}

/// The bytes of all buffers, and what the file says about them.
pub(super) struct Buffers<'a> {
    root: &'a Document,
    /// `None` where a buffer has no data of its own, which is an error once something reads it.
    data: Vec<Option<Cow<'a, [u8]>>>,
    /// The bytes of buffer views that are compressed.
    decoded: Vec<Option<Vec<u8>>>,
}

impl<'a> Buffers<'a> {
    /// Reads all buffers and checks that every buffer view and accessor lies within its buffer.
    pub(super) fn load(root: &'a Document, bin: Option<&'a [u8]>, folder: &Path) -> Result<Self, Problem> {
        let data = root.buffers.iter().enumerate().map(|(index, buffer)| {
            // Only the first buffer can be the GLB's chunk.
            load_buffer(index, buffer, bin.filter(|_| index == 0), folder)
        });
        let mut buffers = Buffers { root, data: data.collect::<Result<_, _>>()?, decoded: Vec::new() };
        for view in 0..root.buffer_views.len() {
            buffers.check_view(view)?;
        }
        buffers.decoded = compressed::decode_views(root, &buffers)?;
        for (index, accessor) in root.accessors.iter().enumerate() {
            buffers.check_accessor(format_args!("/accessors/{index}"), accessor)?;
        }
        Ok(buffers)
    }

    /// How many bytes the file has in its buffers.
    pub(super) fn len(&self) -> u64 {
        self.data.iter().flatten().map(|data| data.len() as u64).sum()
    }

    /// `length` bytes of a buffer, from `offset` on.
    pub(super) fn bytes(&self, at: impl Display, buffer: usize, offset: u64, length: u64) -> Result<&[u8], Problem> {
        let count = self.root.buffers.len();
        let data =
            self.data.get(buffer).ok_or_else(|| dangling(format_args!("{at}/buffer"), buffer, "buffers", count))?;
        let data = data.as_ref().ok_or_else(|| {
            broken(&at, format!("/buffers/{buffer} has no data: no uri, and no BIN chunk in its place"))
        })?;
        let end = offset.checked_add(length).filter(|&end| end <= data.len() as u64);
        let end = end.ok_or_else(|| {
            broken(
                at,
                format!("{length} bytes from byte {offset} are not within /buffers/{buffer}, which has {}", data.len()),
            )
        })?;
        Ok(&data[offset as usize..end as usize])
    }

    fn check_view(&self, index: usize) -> Result<(), Problem> {
        let at = format_args!("/bufferViews/{index}");
        let view = &self.root.buffer_views[index];
        let buffer = resolve(format_args!("{at}/buffer"), view.buffer, "buffers", self.root.buffers.len())?;
        let size = self.root.buffers[buffer].byte_length.0;
        let offset = view.byte_offset.unwrap_or_default().0;
        match offset.checked_add(view.byte_length.0) {
            Some(end) if end <= size => Ok(()),
            _ => Err(broken(
                at,
                format!(
                    "{} bytes from byte {offset} are not within /buffers/{buffer}, which has {size}",
                    view.byte_length.0
                ),
            )),
        }
    }

    fn check_accessor(&self, at: impl Display, accessor: &Accessor) -> Result<(), Problem> {
        let (Checked::Valid(GenericComponentType(component)), Checked::Valid(type_)) =
            (accessor.component_type, accessor.type_)
        else {
            return Err(broken(at, "its type or componentType is none that glTF knows"));
        };
        let size = component.size() * type_.multiplicity();
        let offset = accessor.byte_offset.unwrap_or_default().0;
        if let Some(view) = accessor.buffer_view {
            self.check_range(&at, view, offset, accessor.count.0, size)?;
        }
        if let Some(sparse) = &accessor.sparse {
            let Checked::Valid(IndexComponentType(component)) = sparse.indices.component_type else {
                return Err(broken(format!("{at}/sparse/indices"), "its componentType is not an unsigned integer"));
            };
            let (indices, values) = (&sparse.indices, &sparse.values);
            let (count, index_size) = (sparse.count.0, component.size());
            self.check_range(
                format_args!("{at}/sparse/indices"),
                indices.buffer_view,
                indices.byte_offset.0,
                count,
                index_size,
            )?;
            self.check_range(
                format_args!("{at}/sparse/values"),
                values.buffer_view,
                values.byte_offset.0,
                count,
                size,
            )?;
        }
        Ok(())
    }

    /// Checks that `count` elements of `size` bytes lie within a view.
    fn check_range(
        &self,
        at: impl Display,
        view: Index<json::buffer::View>,
        offset: u64,
        count: u64,
        size: usize,
    ) -> Result<(), Problem> {
        let index = resolve(format_args!("{at}/bufferView"), view, "bufferViews", self.root.buffer_views.len())?;
        let stride = self.stride(index, size);
        if stride < size {
            return Err(broken(
                at,
                format!("its elements of {size} bytes overlap in /bufferViews/{index}, whose byteStride is {stride}"),
            ));
        }
        let length = self.root.buffer_views[index].byte_length.0;
        // In 64 bits, checked: sizes come from the file and can be anything.
        let end = match count {
            0 => Some(offset),
            _ => (count - 1)
                .checked_mul(stride as u64)
                .and_then(|bytes| bytes.checked_add(size as u64)?.checked_add(offset)),
        };
        match end {
            Some(end) if end <= length => Ok(()),
            _ => Err(broken(
                at,
                format!(
                    "{count} elements, {stride} bytes apart, from byte {offset} are not within /bufferViews/{index}, which has {length} bytes"
                ),
            )),
        }
    }

    /// The distance between elements in a view. A stride of 0, which is not legal, is taken as none.
    fn stride(&self, view: usize, size: usize) -> usize {
        self.root.buffer_views[view].byte_stride.map(|stride| stride.0).filter(|&stride| stride > 0).unwrap_or(size)
    }

    /// The bytes of a buffer view.
    pub(super) fn view(&self, at: impl Display, view: Index<json::buffer::View>) -> Result<&[u8], Problem> {
        let index = resolve(&at, view, "bufferViews", self.root.buffer_views.len())?;
        if let Some(Some(decoded)) = self.decoded.get(index) {
            return Ok(decoded);
        }
        let view = &self.root.buffer_views[index];
        self.bytes(at, view.buffer.value(), view.byte_offset.unwrap_or_default().0, view.byte_length.0)
    }

    /// `count` elements of `size` bytes in a view. [`Buffers::load`] has checked that they are there.
    fn elements(
        &self,
        at: impl Display,
        view: Index<json::buffer::View>,
        offset: u64,
        count: usize,
        size: usize,
    ) -> Result<Elements<'_>, Problem> {
        let bytes = self.view(at, view)?;
        let stride = self.stride(view.value(), size);
        let start = offset as usize;
        let length = if count == 0 { 0 } else { (count - 1) * stride + size };
        Ok(Elements { bytes: &bytes[start..start + length], stride })
    }
}

fn load_buffer<'a>(
    index: usize,
    buffer: &json::Buffer,
    bin: Option<&'a [u8]>,
    folder: &Path,
) -> Result<Option<Cow<'a, [u8]>>, Problem> {
    let at = format!("/buffers/{index}");
    let size = buffer.byte_length.0;
    let data = match (&buffer.uri, bin) {
        (None, None) => return Ok(None),
        (None, Some(bin)) => Cow::Borrowed(bin),
        (Some(uri), _) => Cow::Owned(load_uri(uri, folder, size).map_err(|why| broken(format!("{at}/uri"), why))?),
    };
    if (data.len() as u64) < size {
        return Err(broken(at, format!("its byteLength is {size}, but there are only {} bytes", data.len())));
    }
    Ok(Some(data))
}

/// The bytes that a URI stands for; of a file at most its first `limit`.
pub(super) fn load_uri(uri: &str, folder: &Path, limit: u64) -> Result<Vec<u8>, String> {
    match file::decode_uri(uri)? {
        Uri::Data(bytes) => Ok(bytes),
        Uri::File(path) => {
            let path = folder.join(path);
            file::read(&path, limit).map_err(|error| format!("{} cannot be read: {error}", path.display()))
        }
    }
}

/// How much the data read from a file may take, in all, for each byte of the file: enough for data that
/// many primitives share, and for 8-bit integers that become floats.
const GROWTH: u64 = 64;

/// What a file of any size may take, in bytes: accessors without a bufferView are all zeros and need no
/// bytes in the file.
const FLOOR: u64 = 64 << 20;

/// What may be taken of a file of this size, in bytes.
pub(super) fn budget(size: u64) -> u64 {
    size.saturating_mul(GROWTH).saturating_add(FLOOR)
}

/// The decoded elements of an accessor.
pub(super) struct Decoded {
    /// The type of their components, which need not be that of the accessor.
    pub(super) component: ComponentType,
    /// Components an element.
    pub(super) components: usize,
    /// The components, little endian, without gaps.
    pub(super) bytes: Vec<u8>,
}

/// Reads accessors, and sees to it that a small file does not fill the memory.
pub(super) struct Accessors<'a> {
    root: &'a Document,
    buffers: &'a Buffers<'a>,
    /// What has been decoded for accessors without a buffer view, by their index.
    decoded: HashMap<usize, Decoded>,
    /// The bytes that may yet be taken.
    budget: AtomicU64,
}

impl<'a> Accessors<'a> {
    /// `file_size` is that of the model file, which a GLB's buffer is part of.
    pub(super) fn new(root: &'a Document, buffers: &'a Buffers<'a>, file_size: usize) -> Self {
        let budget = AtomicU64::new(budget(buffers.len().saturating_add(file_size as u64)));
        Accessors { root, buffers, decoded: HashMap::new(), budget }
    }

    /// Decodes the primitives whose data is compressed.
    pub(super) fn decode_primitives(&mut self) -> Result<(), Problem> {
        self.decoded = compressed::decode_primitives(self.root, self.buffers, self)?;
        Ok(())
    }

    /// The bytes that may yet be taken.
    pub(super) fn left(&self) -> u64 {
        self.budget.load(Ordering::Relaxed)
    }

    /// Takes the room for `count` values of type `T` off the budget.
    pub(super) fn charge<T>(&self, at: impl Display, count: u64) -> Result<(), Problem> {
        let taken = count.checked_mul(size_of::<T>() as u64).and_then(|bytes| {
            self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).ok()
        });
        taken.map(|_| ()).ok_or_else(|| {
            broken(
                at,
                format!(
                    "{count} elements here need more memory than {GROWTH} times the file's size and {} MiB in all",
                    FLOOR >> 20
                ),
            )
        })
    }

    /// The number of elements of an accessor.
    pub(super) fn count(&self, at: impl Display, index: Index<json::Accessor>) -> Result<u64, Problem> {
        let index = resolve(at, index, "accessors", self.root.accessors.len())?;
        Ok(self.root.accessors[index].count.0)
    }

    /// The type of an accessor's elements.
    pub(super) fn element_type(&self, at: impl Display, index: Index<json::Accessor>) -> Result<Type, Problem> {
        let index = resolve(at, index, "accessors", self.root.accessors.len())?;
        match self.root.accessors[index].type_ {
            Checked::Valid(type_) => Ok(type_),
            Checked::Invalid => Err(broken(format!("/accessors/{index}"), "its type is none that glTF knows")),
        }
    }

    /// The type of an accessor's components.
    pub(super) fn component_type(
        &self,
        at: impl Display,
        index: Index<json::Accessor>,
    ) -> Result<ComponentType, Problem> {
        let index = resolve(at, index, "accessors", self.root.accessors.len())?;
        if let Some(decoded) = self.decoded.get(&index) {
            return Ok(decoded.component);
        }
        match self.root.accessors[index].component_type {
            Checked::Valid(GenericComponentType(component)) => Ok(component),
            Checked::Invalid => Err(broken(format!("/accessors/{index}"), "its componentType is none that glTF knows")),
        }
    }

    /// Reads an accessor of floats, or of integers that stand for floats (glTF 2.0, section 3.6.2.2).
    /// `convert` makes an element of its components. `at` is where the accessor is used.
    pub(super) fn floats<const N: usize, T: Clone>(
        &self,
        at: impl Display,
        index: Index<json::Accessor>,
        type_: Type,
        convert: impl Fn([f32; N]) -> T + Copy,
    ) -> Result<Vec<T>, Problem> {
        self.read(at, index, type_, convert([0.0; N]), |elements, component, normalized| {
            Ok(match (component, normalized) {
                (ComponentType::F32, _) => elements.collect(f32::from_le_bytes, convert),
                (ComponentType::I8, true) => {
                    elements.collect(|[byte]| (f32::from(byte as i8) / 127.0).max(-1.0), convert)
                }
                (ComponentType::U8, true) => elements.collect(|[byte]| f32::from(byte) / 255.0, convert),
                (ComponentType::I16, true) => {
                    elements.collect(|b| (f32::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0), convert)
                }
                (ComponentType::U16, true) => elements.collect(|b| f32::from(u16::from_le_bytes(b)) / 65535.0, convert),
                (ComponentType::I8, false) => elements.collect(|[byte]| f32::from(byte as i8), convert),
                (ComponentType::U8, false) => elements.collect(|[byte]| f32::from(byte), convert),
                (ComponentType::I16, false) => elements.collect(|b| f32::from(i16::from_le_bytes(b)), convert),
                (ComponentType::U16, false) => elements.collect(|b| f32::from(u16::from_le_bytes(b)), convert),
                (ComponentType::U32, _) => {
                    return Err("has 32-bit integers, and floats or smaller integers are needed");
                }
            })
        })
    }

    /// Reads an accessor of unsigned integers. `at` is where it is used.
    pub(super) fn integers<const N: usize, T: Clone>(
        &self,
        at: impl Display,
        index: Index<json::Accessor>,
        type_: Type,
        convert: impl Fn([u32; N]) -> T + Copy,
    ) -> Result<Vec<T>, Problem> {
        self.read(at, index, type_, convert([0; N]), |elements, component, _| {
            elements.unsigned(component, convert).ok_or("has components that are not unsigned integers")
        })
    }

    fn read<T: Clone>(
        &self,
        at: impl Display,
        index: Index<json::Accessor>,
        type_: Type,
        zero: T,
        decode: impl Fn(Elements, ComponentType, bool) -> Result<Vec<T>, &'static str>,
    ) -> Result<Vec<T>, Problem> {
        let index = resolve(&at, index, "accessors", self.root.accessors.len())?;
        let (accessor, path) = (&self.root.accessors[index], format_args!("/accessors/{index}"));
        let component = self.component_type(&at, Index::new(index as u32))?;
        let refuse = |why: &str| broken(&at, format!("{path} {why}"));
        if accessor.type_ != Checked::Valid(type_) {
            return Err(refuse(&format!("has another type than the {type_:?} that is needed")));
        }
        self.charge::<T>(path, accessor.count.0)?;
        let (count, size) = (accessor.count.0 as usize, component.size() * type_.multiplicity());
        let mut values = match (accessor.buffer_view, self.decoded.get(&index)) {
            (Some(view), _) => {
                let elements =
                    self.buffers.elements(path, view, accessor.byte_offset.unwrap_or_default().0, count, size)?;
                decode(elements, component, accessor.normalized).map_err(refuse)?
            }
            (None, Some(decoded)) => {
                if decoded.bytes.len() != count * size || decoded.components != type_.multiplicity() {
                    return Err(refuse("has another count or type than its compressed data"));
                }
                decode(Elements { bytes: &decoded.bytes, stride: size }, component, accessor.normalized)
                    .map_err(refuse)?
            }
            (None, None) => vec![zero; count],
        };
        if let Some(sparse) = &accessor.sparse {
            let (indices, replacements) = (self.sparse_indices(path, sparse)?, &sparse.values);
            let elements = self.buffers.elements(
                path,
                replacements.buffer_view,
                replacements.byte_offset.0,
                indices.len(),
                size,
            )?;
            self.charge::<T>(path, sparse.count.0)?;
            let replacements = decode(elements, component, accessor.normalized).map_err(refuse)?;
            for (index, replacement) in indices.into_iter().zip(replacements) {
                *values.get_mut(index as usize).ok_or_else(|| {
                    broken(format!("{path}/sparse/indices"), format!("index {index} is not below the count of {count}"))
                })? = replacement;
            }
        }
        Ok(values)
    }

    fn sparse_indices(&self, path: impl Display, sparse: &json::accessor::sparse::Sparse) -> Result<Vec<u32>, Problem> {
        let at = format_args!("{path}/sparse/indices");
        let not_unsigned = || broken(at, "its componentType is not an unsigned integer");
        let Checked::Valid(IndexComponentType(component)) = sparse.indices.component_type else {
            return Err(not_unsigned());
        };
        self.charge::<u32>(at, sparse.count.0)?;
        let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset.0);
        let elements = self.buffers.elements(at, view, offset, sparse.count.0 as usize, component.size())?;
        elements.unsigned(component, |[index]: [u32; 1]| index).ok_or_else(not_unsigned)
    }
}

/// Elements that lie `stride` bytes apart; the bytes end with the last one.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl Elements<'_> {
    /// Reads elements of `N` components of `S` bytes each. The component's type is decided outside of the loop.
    fn collect<const S: usize, const N: usize, C, T>(
        &self,
        component: impl Fn([u8; S]) -> C,
        convert: impl Fn([C; N]) -> T,
    ) -> Vec<T> {
        if self.stride == S * N {
            let elements = self.bytes.as_chunks::<S>().0.as_chunks::<N>().0;
            return elements.iter().map(|element| convert(element.map(&component))).collect();
        }
        let element = |bytes: &[u8]| {
            let components = bytes.as_chunks::<S>().0;
            convert(std::array::from_fn(|index| component(components[index])))
        };
        self.bytes.chunks(self.stride).map(element).collect()
    }

    fn unsigned<const N: usize, T>(&self, component: ComponentType, convert: impl Fn([u32; N]) -> T) -> Option<Vec<T>> {
        match component {
            ComponentType::U8 => Some(self.collect(|[byte]| u32::from(byte), convert)),
            ComponentType::U16 => Some(self.collect(|b| u32::from(u16::from_le_bytes(b)), convert)),
            ComponentType::U32 => Some(self.collect(u32::from_le_bytes, convert)),
            ComponentType::I8 | ComponentType::I16 | ComponentType::F32 => None,
        }
    }
}
