//! A page in a browser, if one is installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAMES: [&str; 5] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
];
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of the Chromium family: in PATH, or among those that Playwright keeps.
pub fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let installed = folders
        .iter()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)));
    installed
        .into_iter()
        .find(|file| file.is_file())
        .or_else(of_playwright)
}

fn of_playwright() -> Option<PathBuf> {
    let given = env::var_os("PLAYWRIGHT_BROWSERS_PATH").map(PathBuf::from);
    let own = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache/ms-playwright"));
    let files = [
        "chrome-linux/chrome",
        "chrome-linux/headless_shell",
        "chrome-linux64/chrome",
    ];
    let browsers = fs::read_dir(given.or_else(own)?).ok()?.flatten();
    let candidates = browsers.flat_map(|browser| files.map(|file| browser.path().join(file)));
    candidates.into_iter().find(|file| file.is_file())
}

/// How wide a page is at some width of the window.
#[derive(Debug, PartialEq)]
pub struct Width {
    /// Of the window, as asked for.
    pub window: u32,
    /// Of what would have to be scrolled.
    pub scroll: u32,
    /// Elements outside of boxes that scroll by themselves, which reach too far right.
    pub beyond: String,
    /// Texts of drawings that reach out of them or touch each other.
    pub clashes: String,
}

/// Lays out a page at several widths.
///
/// The page stands in a frame of each width inside another page, whose script
/// measures; browsers do not make their own windows as narrow as a phone.
pub fn widths(browser: &Path, page: &str, widths: &[u32], folder: &Path) -> Vec<Width> {
    let file = folder.join("measure.html");
    fs::write(&file, measuring(page, widths)).unwrap();
    let output = fs::File::create(folder.join("dom.html")).unwrap();
    let mut running = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--virtual-time-budget=5000",
            "--window-size=1600,1000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while running.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            running.kill().unwrap();
            panic!("{} did not end within {PATIENCE:?}", browser.display());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let dom = fs::read_to_string(folder.join("dom.html")).unwrap();
    let (_, measured) = dom.split_once("measured:").expect("the script ran");
    let (measured, _) = measured.split_once(";end").expect("the script ended");
    let width = |line: &str| {
        let mut parts = line.split('|');
        let mut next = || parts.next().unwrap_or_default().to_string();
        Width {
            window: next().parse().unwrap(),
            scroll: next().parse().unwrap(),
            beyond: next(),
            clashes: next(),
        }
    };
    measured
        .split(';')
        .filter(|line| !line.is_empty())
        .map(width)
        .collect()
}

fn measuring(page: &str, widths: &[u32]) -> String {
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = |width: &u32| {
        format!(
            "<iframe style=\"width:{width}px;height:800px;border:0\" srcdoc=\"{quoted}\"></iframe>\n"
        )
    };
    let frames: String = widths.iter().map(frame).collect();
    format!(
        "<!DOCTYPE html><html><body>{frames}<pre id=\"out\"></pre><script>{SCRIPT}</script></body></html>"
    )
}

const SCRIPT: &str = r"
window.onload = () => {
  let text = 'measured' + ':';
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument, view = frame.contentWindow;
    for (const details of page.querySelectorAll('details')) details.open = true;
    const beyond = [];
    for (const element of page.body.querySelectorAll('*')) {
      if (element.closest('.scroll') && !element.matches('.scroll')) continue;
      if (element.getBoundingClientRect().right > view.innerWidth + 0.5)
        beyond.push(element.tagName + '.' + element.getAttribute('class'));
    }
    const clashes = [];
    for (const svg of page.querySelectorAll('svg')) {
      const box = svg.getBoundingClientRect();
      // Boxes of text that stands steep are larger than the text.
      const texts = [...svg.querySelectorAll('text:not([transform])')];
      const boxes = texts.map(text => text.getBoundingClientRect());
      boxes.forEach((a, i) => {
        if (a.left < box.left || a.right > box.right || a.top < box.top || a.bottom > box.bottom)
          clashes.push(texts[i].textContent + ' outside');
        boxes.slice(0, i).forEach((b, j) => {
          // Lines stand closer than the boxes of their fonts are high.
          const deep = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (a.left < b.right && b.left < a.right && deep > a.height / 3)
            clashes.push(texts[i].textContent + ' on ' + texts[j].textContent);
        });
      });
    }
    const report = [view.innerWidth, page.documentElement.scrollWidth];
    report.push(beyond.slice(0, 5).join(' '), clashes.slice(0, 5).join(', '));
    text += report.join('|') + ';';
  }
  document.getElementById('out').textContent = text + 'end';
};
";
