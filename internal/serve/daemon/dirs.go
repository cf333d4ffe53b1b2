package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// RuntimeDir returns the directory for control sockets.
func RuntimeDir() string { return runtimeDir("/run/user") }

// runtimeDir returns the directory for control sockets. If the environment does not specify a
// directory, runtimeDir returns one inside the user's own runtime directory, such as
// /run/user/1000. The proxy and the user's commands then find the same directory even if the MCP
// client starts the proxy without environment variables. If the user has no runtime directory, or
// if other users can access it, runtimeDir returns a directory inside the system's directory for
// temporary files. The argument is the parent of all users' runtime directories.
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

// StateDir returns the directory for data that outlives the process, such as tokens and backups of
// client files.
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
