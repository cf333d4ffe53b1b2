package control

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// socketName returns a new socket name for the process. It includes a random part, because a
// process may run several proxies and process IDs are reused.
func socketName(pid int) string {
	return strconv.Itoa(pid) + "-" + strings.ToLower(rand.Text()[:8]) + ".sock"
}

// ownerOf returns the ID of the process that created the socket. The ID is part of the socket's
// name.
func ownerOf(path string) (pid int, ok bool) {
	number, _, named := strings.Cut(filepath.Base(path), "-")
	pid, err := strconv.Atoi(number)
	return pid, named && err == nil && pid > 0
}

// checkDir returns an error if dir belongs to another user or if other users can access it.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("checking the directory for control sockets: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory, but should hold the control sockets", dir)
	case !owned(info):
		return fmt.Errorf("the directory %s of control sockets belongs to another user; set PETRIGATE_RUNTIME_DIR to your own directory", dir)
	case exposed(info):
		return fmt.Errorf("the directory %s of control sockets is open to other users (mode %04o): chmod 700 it", dir, info.Mode().Perm())
	}
	return nil
}

// sockets returns the paths of the sockets in dir in sorted order.
func sockets(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); strings.HasSuffix(path, ".sock") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, err
}

// removeStale removes each socket that refuses connections and whose process has ended. Both
// conditions are necessary. A socket also refuses connections before its process listens on it. A
// process in a different container may seem to have ended, because process IDs have a different
// meaning there.
func removeStale(dir string) {
	paths, _ := sockets(dir) // if the directory cannot be listed, its sockets are kept
	for _, path := range paths {
		if pid, ok := ownerOf(path); !ok || running(pid) {
			continue
		}
		if conn, err := net.Dial("unix", path); err == nil {
			_ = conn.Close()
			continue
		}
		_ = os.Remove(path)
	}
}
