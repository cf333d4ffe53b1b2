package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// RuntimeDir is the folder of the control sockets.
func RuntimeDir() string { return runtimeDir("/run/user") }

// runtimeDir looks for the runtime directory of the user below users where no variable names it: some clients
// start their servers without, and people look for them from a session that has it.
func runtimeDir(users string) string {
	if dir := os.Getenv("PETRIGATE_RUNTIME_DIR"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "petrigate")
	}
	if dir := filepath.Join(users, strconv.Itoa(os.Getuid())); isPrivateDir(dir) {
		return filepath.Join(dir, "petrigate")
	}
	return filepath.Join(os.TempDir(), "petrigate-"+strconv.Itoa(os.Getuid()))
}

// StateDir is the folder of what outlives a process: tokens, what was kept of files of clients.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "petrigate"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for a place for state: %w; set XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "petrigate"), nil
}
