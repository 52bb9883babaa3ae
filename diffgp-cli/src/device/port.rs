//! `--port` and `--baud`: where the device is.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use serial2::SerialPort;

use super::line::{Line, QUIET};
use crate::failure::mistake;

const BAUD: u32 = 115_200;

/// What `--port` names.
pub(super) enum Port {
    /// A device file, or COM3 and the like.
    Serial { path: PathBuf, baud: u32 },
    /// HOST:PORT.
    Tcp { address: String },
}

impl Port {
    pub(super) fn parse(port: &str, baud: Option<u32>) -> anyhow::Result<Self> {
        let Some(address) = port.strip_prefix("tcp:") else {
            return Ok(Self::Serial { path: port.into(), baud: baud.unwrap_or(BAUD) });
        };
        let (host, number) = address.rsplit_once(':').unwrap_or_default();
        if host.is_empty() || !number.parse::<u16>().is_ok_and(|number| number > 0) {
            return Err(mistake(format!("--port {port}: expected tcp:HOST:PORT, for example tcp:localhost:4444")));
        }
        if baud.is_some() {
            return Err(mistake(format!("--baud is for serial devices; --port {port} has no speed to set")));
        }
        Ok(Self::Tcp { address: address.to_owned() })
    }

    pub(super) fn open(&self, timeout: Duration) -> anyhow::Result<Line> {
        match self {
            Self::Serial { path, baud } => {
                let shown = path.display();
                let mut serial = SerialPort::open(path, *baud).map_err(|error| {
                    mistake(format!(
                        "--port {shown}: cannot open it at {baud} baud ({error}); expected a serial device such as \
                         /dev/ttyACM0, or tcp:HOST:PORT"
                    ))
                })?;
                serial.set_read_timeout(QUIET)?;
                serial.set_write_timeout(timeout)?;
                // What an earlier user of the line has not read.
                serial.discard_buffers()?;
                Ok(Line::new(shown.to_string(), serial))
            }
            Self::Tcp { address } => {
                let stream = connect(address, timeout).map_err(|error| {
                    mistake(format!("--port tcp:{address}: {error}; expected a device or an emulator that listens"))
                })?;
                stream.set_read_timeout(Some(QUIET))?;
                stream.set_write_timeout(Some(timeout))?;
                stream.set_nodelay(true)?;
                Ok(Line::new(format!("tcp:{address}"), stream))
            }
        }
    }
}

/// To the first address that answers: a name often stands for an IPv6 and an IPv4 address.
fn connect(address: &str, timeout: Duration) -> std::io::Result<TcpStream> {
    let mut refused = std::io::ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
