//! What several samples let one choose, and a box to choose it in.

use clap::ValueEnum;

/// The operators of `shaders/lib/tone_mapping.glsl` and `.hlsl`, in the order of the constants `TONE_`: as a `u32`, one is
/// what `tone_mapped` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
#[expect(missing_docs, reason = "each is described where its formula stands")]
pub enum ToneOperator {
    None,
    Reinhard,
    ReinhardExtended,
    Hable,
    AcesNarkowicz,
    AcesHill,
    AcesHillBoost,
    KhronosNeutral,
    Agx,
}

/// A box to choose one of several in, by the names that they have on the command line.
pub fn choose<T: ValueEnum + Copy + PartialEq>(ui: &mut egui::Ui, label: &str, chosen: &mut T) {
    let name = |value: T| value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    egui::ComboBox::from_label(label).selected_text(name(*chosen)).show_ui(ui, |ui| {
        for &value in T::value_variants() {
            ui.selectable_value(chosen, value, name(value));
        }
    });
}
