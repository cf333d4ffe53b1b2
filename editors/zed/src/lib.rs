//! Starts "petrigate lsp". Everything else is in the server.
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Petrigate;

impl zed::Extension for Petrigate {
    fn new() -> Self {
        Petrigate
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree.which("petrigate").ok_or("petrigate is not in PATH")?;
        Ok(Command { command, args: vec!["lsp".to_string()], env: worktree.shell_env() })
    }
}

zed::register_extension!(Petrigate);
