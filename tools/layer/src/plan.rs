//! What is to go wrong, and when: the environment variables.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use ash::vk;

const PREFIX: &str = "FAULT_";

/// All that the variables say.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) capabilities: Faults,
    pub(crate) acquire: Faults,
    pub(crate) present: Faults,
    pub(crate) submit: Faults,
    /// `None`: those of the driver.
    pub(crate) present_modes: Option<Vec<vk::PresentModeKHR>>,
    /// By the physical device's place; those beyond are left as they are.
    pub(crate) device_types: Vec<vk::PhysicalDeviceType>,
    log: Option<Mutex<File>>,
}

/// The plan of this process, or what is wrong with its variables.
pub(crate) fn plan() -> Result<&'static Plan, &'static str> {
    static PLAN: LazyLock<Result<Plan, String>> = LazyLock::new(|| {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.to_str()?.strip_prefix(PREFIX)?.to_owned(), value.to_string_lossy().into_owned()))
        });
        Plan::new(variables)
    });
    PLAN.as_ref().map_err(String::as_str)
}

impl Plan {
    /// The plan that variables make, their names without the prefix.
    fn new(variables: impl Iterator<Item = (String, String)>) -> Result<Self, String> {
        let mut plan = Self::default();
        for (name, value) in variables {
            plan.set(&name, &value).map_err(|reason| format!("{PREFIX}{name}={value}: {reason}"))?;
        }
        Ok(plan)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        const IMAGE_FAULTS: &[&str] = &["suboptimal", "out_of_date", "surface_lost", "device_lost"];
        match name {
            "CAPABILITIES" => self.capabilities = Faults::parse(value, &["surface_lost"])?,
            "ACQUIRE" => self.acquire = Faults::parse(value, IMAGE_FAULTS)?,
            "PRESENT" => self.present = Faults::parse(value, IMAGE_FAULTS)?,
            "SUBMIT" => self.submit = Faults::parse(value, &["device_lost"])?,
            "PRESENT_MODES" => self.present_modes = Some(list(value, present_mode)?),
            "DEVICE_TYPES" => self.device_types = list(value, device_type)?,
            "LOG" => {
                let file = File::options().create(true).append(true).open(value).map_err(|error| error.to_string())?;
                self.log = Some(Mutex::new(file));
            }
            _ => return Err("there is no such fault".to_owned()),
        }
        Ok(())
    }

    /// Adds a line to the log, if there is one.
    pub(crate) fn log(&self, line: &str) {
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            // One write a line, so that whoever reads the file meanwhile sees whole lines. A log that cannot be written
            // fails the test that waits for it.
            let _ = log.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// The faults of one function.
#[derive(Default)]
pub(crate) struct Faults {
    faults: Vec<(vk::Result, When)>,
    calls: AtomicU64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Every(u64),
    Only(u64),
}

impl Faults {
    fn parse(text: &str, possible: &[&str]) -> Result<Self, String> {
        let fault = |text: &str| {
            let (name, when) = match (text.split_once(':'), text.split_once('@')) {
                (Some((name, number)), _) => (name, When::Every(ordinal(number)?)),
                (_, Some((name, number))) => (name, When::Only(ordinal(number)?)),
                _ => (text, When::Every(1)),
            };
            match possible.contains(&name) {
                true => Ok((result(name), when)),
                false => Err(format!("{name} is not one of {}", possible.join(", "))),
            }
        };
        Ok(Self { faults: list(text, fault)?, calls: AtomicU64::new(0) })
    }

    /// Counts a call of the function; the result that is injected in it.
    pub(crate) fn next(&self) -> Option<vk::Result> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let due = |when| match when {
            When::Every(number) => call.is_multiple_of(number),
            When::Only(number) => call == number,
        };
        self.faults.iter().find(|(_, when)| due(*when)).map(|(result, _)| *result)
    }
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(parse).collect()
}

fn ordinal(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| format!("{text} is not the number of a call"))
}

/// The result of a name that [`Faults::parse`] has found to be possible.
fn result(name: &str) -> vk::Result {
    match name {
        "suboptimal" => vk::Result::SUBOPTIMAL_KHR,
        "out_of_date" => vk::Result::ERROR_OUT_OF_DATE_KHR,
        "surface_lost" => vk::Result::ERROR_SURFACE_LOST_KHR,
        _ => vk::Result::ERROR_DEVICE_LOST,
    }
}

fn present_mode(name: &str) -> Result<vk::PresentModeKHR, String> {
    match name {
        "fifo" => Ok(vk::PresentModeKHR::FIFO),
        "mailbox" => Ok(vk::PresentModeKHR::MAILBOX),
        "immediate" => Ok(vk::PresentModeKHR::IMMEDIATE),
        _ => Err(format!("{name} is not one of fifo, mailbox, immediate")),
    }
}

fn device_type(name: &str) -> Result<vk::PhysicalDeviceType, String> {
    match name {
        "discrete" => Ok(vk::PhysicalDeviceType::DISCRETE_GPU),
        "integrated" => Ok(vk::PhysicalDeviceType::INTEGRATED_GPU),
        "virtual" => Ok(vk::PhysicalDeviceType::VIRTUAL_GPU),
        "cpu" => Ok(vk::PhysicalDeviceType::CPU),
        _ => Err(format!("{name} is not one of discrete, integrated, virtual, cpu")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSSIBLE: &[&str] = &["suboptimal", "out_of_date", "surface_lost"];

    fn first(text: &str, calls: usize) -> Vec<Option<vk::Result>> {
        let faults = Faults::parse(text, POSSIBLE).expect("it can be read");
        (0..calls).map(|_| faults.next()).collect()
    }

    #[test]
    fn faults_come_always_at_every_nth_and_at_the_nth_call() {
        let (out_of_date, lost) = (Some(vk::Result::ERROR_OUT_OF_DATE_KHR), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
        assert_eq!(first("suboptimal", 2), [Some(vk::Result::SUBOPTIMAL_KHR); 2]);
        assert_eq!(first("out_of_date:2", 5), [None, out_of_date, None, out_of_date, None]);
        assert_eq!(first("surface_lost@3,out_of_date:2", 4), [None, out_of_date, lost, out_of_date]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for bad in ["", "device_lost", "suboptimal:0", "suboptimal:x", "suboptimal@", "suboptimal,", "suboptimal:1@2"] {
            assert!(Faults::parse(bad, POSSIBLE).is_err(), "{bad}");
        }
        let set = |name: &str, value: &str| Plan::new([(name.to_owned(), value.to_owned())].into_iter()).err();
        assert_eq!(set("DEVICE_TYPES", "cpu,discrete"), None);
        assert_eq!(set("PRESENT_MODES", "fifo"), None);
        assert!(set("PRESENT_MODES", "lifo").expect("an error").starts_with("FAULT_PRESENT_MODES=lifo: "));
        assert!(set("AQUIRE", "suboptimal").is_some());
    }
}
