//! A display in memory with a window manager, and a user for the windows on it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// How long anything may take before it counts as not happening.
const PATIENCE: Duration = Duration::from_secs(60);

/// The values of the property `WM_STATE` (ICCCM 4.1.3.1).
const NORMAL_STATE: u32 = 1;
const ICONIC_STATE: u32 = 3;

const KEY_PRESS: u8 = 2;
const KEY_RELEASE: u8 = 3;
const BUTTON_PRESS: u8 = 4;
const BUTTON_RELEASE: u8 = 5;
const MOTION: u8 = 6;

/// Held by the display that is there: on few cores, several would keep each other waiting.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// An X server in memory, with a window manager. Both end when it is dropped. A program has one at a time.
pub struct Display {
    /// What the variable `DISPLAY` has to be.
    pub name: String,
    connection: RustConnection,
    root: Window,
    manager: Child,
    server: Child,
    _only: MutexGuard<'static, ()>,
}

impl Display {
    /// Starts Xvfb and openbox. `None`, said on standard error, where they are not installed.
    ///
    /// # Panics
    ///
    /// If they do not start.
    pub fn start() -> Option<Self> {
        let only = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1920x1080x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            eprintln!("SKIPPED: Xvfb is not installed");
            return None;
        };
        let mut number = String::new();
        let output = server.stdout.take().expect("it was piped");
        BufReader::new(output).read_line(&mut number).expect("Xvfb says its number");
        let name = format!(":{}", number.trim());
        let manager = Command::new("openbox").env("DISPLAY", &name).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(manager) = manager else {
            eprintln!("SKIPPED: openbox is not installed");
            let _ = server.kill();
            return None;
        };
        let (connection, screen) = x11rb::connect(Some(&name)).expect("Xvfb can be connected to");
        let root = connection.setup().roots[screen].root;
        let display = Self { name, connection, root, manager, server, _only: only };
        wait_for("the window manager", || display.manages_windows().then_some(()));
        Some(display)
    }

    /// Tries with a window of its own whether there is a manager that takes care of windows. Openbox says that it is there
    /// before it does, and forgets windows that come in between.
    fn manages_windows(&self) -> bool {
        let window = self.create_window();
        self.connection.map_window(window).expect("the server takes requests");
        self.sync();
        let clients = self.atom("_NET_CLIENT_LIST");
        let managed = (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            self.property(self.root, clients, AtomEnum::WINDOW.into()).is_some_and(|windows| windows.contains(&window))
        });
        self.connection.destroy_window(window).expect("the server takes requests");
        self.sync();
        managed
    }

    /// Waits for the window of a process.
    pub fn window_of(&self, process: &mut Child) -> Window {
        let clients = self.atom("_NET_CLIENT_LIST");
        let process_id = self.atom("_NET_WM_PID");
        wait_for("a window", || {
            if let Some(status) = process.try_wait().expect("the process can be asked") {
                panic!("the program has ended before it had a window: {status}");
            }
            let windows = self.property(self.root, clients, AtomEnum::WINDOW.into())?;
            let owned = |window: &Window| {
                let id = self.property(*window, process_id, AtomEnum::CARDINAL.into());
                id.is_some_and(|id| id.first() == Some(&process.id()))
            };
            windows.into_iter().find(owned)
        })
    }

    /// Asks for another size of a window, in pixels without its frame.
    pub fn resize(&self, window: Window, width: u32, height: u32) {
        let size = ConfigureWindowAux::new().width(width).height(height);
        self.connection.configure_window(window, &size).expect("the server takes requests");
        self.sync();
    }

    /// The size of a window in pixels, without its frame.
    pub fn size(&self, window: Window) -> (u16, u16) {
        let geometry = self.connection.get_geometry(window).expect("the server takes requests");
        geometry.reply().map(|geometry| (geometry.width, geometry.height)).unwrap_or_default()
    }

    /// Waits until a window has a size.
    pub fn wait_for_size(&self, window: Window, width: u16, height: u16) {
        wait_for("the window's size", || (self.size(window) == (width, height)).then_some(()));
    }

    /// Asks for another place of a window's frame.
    pub fn move_to(&self, window: Window, x: i32, y: i32) {
        let place = ConfigureWindowAux::new().x(x).y(y);
        self.connection.configure_window(window, &place).expect("the server takes requests");
        self.sync();
    }

    /// Minimises a window and waits until it is.
    pub fn minimise(&self, window: Window) {
        self.ask_manager(window, "WM_CHANGE_STATE", [ICONIC_STATE, 0, 0, 0, 0]);
        self.wait_for_state(window, ICONIC_STATE);
    }

    /// Brings a minimised window back and waits until it is there.
    pub fn restore(&self, window: Window) {
        // From a pager (2), so that the manager does not mind who has the focus.
        self.ask_manager(window, "_NET_ACTIVE_WINDOW", [2, x11rb::CURRENT_TIME, 0, 0, 0]);
        self.wait_for_state(window, NORMAL_STATE);
    }

    /// Sets the screen's resolution in dots an inch, as a desktop's settings do by the protocol XSETTINGS; a window's scale
    /// factor is 1 at 96. Programs follow that were started after the first call.
    pub fn set_resolution(&self, dots_per_inch: u32) {
        const NAME: &[u8; 7] = b"Xft/DPI";
        let little_endian = [0; 4];
        let [serial, count] = [1_u32; 2].map(u32::to_le_bytes);
        let integer = [0, 0, NAME.len() as u8, 0];
        let value = (dots_per_inch * 1024).to_le_bytes();
        let settings = [&little_endian[..], &serial, &count, &integer, NAME, &[0], &serial, &value].concat();
        let (owner, property) = (self.settings_owner(), self.atom("_XSETTINGS_SETTINGS"));
        let set = self.connection.change_property8(PropMode::REPLACE, owner, property, property, &settings);
        set.expect("the server takes requests");
        self.sync();
    }

    /// The window whose property holds the desktop's settings, made if there is none yet.
    fn settings_owner(&self) -> Window {
        let selection = self.atom("_XSETTINGS_S0");
        let owner = self.connection.get_selection_owner(selection).expect("the server takes requests");
        let owner = owner.reply().expect("the server knows selections").owner;
        if owner != x11rb::NONE {
            return owner;
        }
        let owner = self.create_window();
        self.connection.set_selection_owner(owner, selection, x11rb::CURRENT_TIME).expect("the server takes requests");
        owner
    }

    /// Presses a mouse button (1 left, 3 right) in the middle of a window and moves the mouse before it lets go.
    pub fn drag(&self, window: Window, button: u8, by: (i16, i16)) {
        let (width, height) = self.size(window);
        let middle = (width as i16 / 2, height as i16 / 2);
        let at = |x: i16, y: i16| {
            let moved = self.connection.translate_coordinates(window, self.root, x, y);
            let moved = moved.expect("the server takes requests").reply().expect("the window is there");
            self.fake(MOTION, 0, moved.dst_x, moved.dst_y);
        };
        at(middle.0, middle.1);
        self.fake(BUTTON_PRESS, button, 0, 0);
        for step in 1..=8 {
            at(middle.0 + by.0 * step / 8, middle.1 + by.1 * step / 8);
            std::thread::sleep(Duration::from_millis(25));
        }
        self.fake(BUTTON_RELEASE, button, 0, 0);
    }

    /// Turns the mouse wheel, up or down.
    pub fn wheel(&self, up: bool) {
        let button = if up { 4 } else { 5 };
        self.fake(BUTTON_PRESS, button, 0, 0);
        self.fake(BUTTON_RELEASE, button, 0, 0);
    }

    /// Strikes the key with this X keysym: those of Latin-1 are their characters, `F1` is 0xffbe.
    pub fn key(&self, keysym: u32) {
        let setup = self.connection.setup();
        let (first, count) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let mapping = self.connection.get_keyboard_mapping(first, count).expect("the server takes requests");
        let mapping = mapping.reply().expect("there is a keyboard");
        let mut keys = mapping.keysyms.chunks(mapping.keysyms_per_keycode.into());
        let place = keys.position(|keysyms| keysyms.contains(&keysym)).expect("the keyboard has the key");
        let keycode = first + place as u8;
        self.fake(KEY_PRESS, keycode, 0, 0);
        self.fake(KEY_RELEASE, keycode, 0, 0);
    }

    /// Drops a file on a window, as a file manager does by the protocol Xdnd.
    pub fn drop_file(&self, window: Window, path: &Path) {
        let [selection, list, finished] =
            ["XdndSelection", "text/uri-list", "XdndFinished"].map(|name| self.atom(name));
        let source = self.create_window();
        self.connection.set_selection_owner(source, selection, x11rb::CURRENT_TIME).expect("the server takes requests");
        let send = |name: &str, data: [u32; 4]| {
            let data = [source, data[0], data[1], data[2], data[3]];
            let message = ClientMessageEvent::new(32, window, self.atom(name), data);
            self.connection.send_event(false, window, EventMask::NO_EVENT, message).expect("the server takes requests");
            self.sync();
        };
        const VERSION: u32 = 5;
        send("XdndEnter", [VERSION << 24, list, 0, 0]);
        send("XdndPosition", [0, 0, x11rb::CURRENT_TIME, self.atom("XdndActionCopy")]);
        let next = || self.connection.poll_for_event().expect("the server answers");
        let request = wait_for("the question what is dropped", || match next()? {
            Event::SelectionRequest(request) => Some(request),
            _ => None,
        });
        let text = format!("file://{}\r\n", path.display());
        let (requestor, property) = (request.requestor, request.property);
        self.connection
            .change_property8(PropMode::REPLACE, requestor, property, list, text.as_bytes())
            .expect("the server takes requests");
        let notice = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor,
            selection,
            target: request.target,
            property,
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, notice).expect("the server takes requests");
        self.sync();
        send("XdndDrop", [0, x11rb::CURRENT_TIME, 0, 0]);
        wait_for("the end of the drop", || match next()? {
            Event::ClientMessage(message) if message.type_ == finished => Some(()),
            _ => None,
        });
    }

    /// Asks a window to close, as its frame's button does.
    pub fn close(&self, window: Window) {
        let delete = self.atom("WM_DELETE_WINDOW");
        let message = ClientMessageEvent::new(32, window, self.atom("WM_PROTOCOLS"), [delete, 0, 0, 0, 0]);
        self.connection.send_event(false, window, EventMask::NO_EVENT, message).expect("the server takes requests");
        self.sync();
    }

    /// A window of the test itself, of one pixel and not shown.
    fn create_window(&self) -> Window {
        let window = self.connection.generate_id().expect("there are identifiers");
        let depth = x11rb::COPY_DEPTH_FROM_PARENT;
        let class = WindowClass::INPUT_OUTPUT;
        self.connection
            .create_window(depth, window, self.root, 0, 0, 1, 1, 0, class, 0, &CreateWindowAux::new())
            .expect("the server takes requests");
        window
    }

    /// Sends the window manager a message about a window.
    fn ask_manager(&self, window: Window, message: &str, data: [u32; 5]) {
        let message = ClientMessageEvent::new(32, window, self.atom(message), data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        self.connection.send_event(false, self.root, mask, message).expect("the server takes requests");
        self.sync();
    }

    fn wait_for_state(&self, window: Window, state: u32) {
        let property = self.atom("WM_STATE");
        wait_for("the window's state", || {
            (self.property(window, property, property)?.first() == Some(&state)).then_some(())
        });
    }

    fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) {
        let sent = self.connection.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, self.root, x, y, 0);
        sent.expect("the server takes requests");
        self.sync();
    }

    fn sync(&self) {
        self.connection.sync().expect("the server answers");
    }

    fn atom(&self, name: &str) -> Atom {
        let cookie = self.connection.intern_atom(false, name.as_bytes()).expect("the server takes requests");
        cookie.reply().expect("the server knows atoms").atom
    }

    fn property(&self, window: Window, property: Atom, kind: Atom) -> Option<Vec<u32>> {
        let cookie = self.connection.get_property(false, window, property, kind, 0, 1024).ok()?;
        Some(cookie.reply().ok()?.value32()?.collect())
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        for process in [&mut self.manager, &mut self.server] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Waits for a process to end by itself; kills it, and panics, where it does not.
pub fn wait_for_end(mut process: Child) -> crate::sample::Ended {
    let started = Instant::now();
    while process.try_wait().expect("the process can be asked").is_none() {
        if started.elapsed() > PATIENCE {
            let _ = process.kill();
            panic!("the program does not end: {:?}", process.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    process.wait_with_output().expect("it has ended").into()
}

/// Waits until something is found.
///
/// # Panics
///
/// If it takes unreasonably long.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
