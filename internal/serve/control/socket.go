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

// socketName is that of a new socket of a process. The random part keeps the
// proxies of one process apart, and those of processes that had one number
// after each other.
func socketName(pid int) string {
	return strconv.Itoa(pid) + "-" + strings.ToLower(rand.Text()[:8]) + ".sock"
}

// ownerOf is the process that a socket is named after.
func ownerOf(path string) (pid int, ok bool) {
	number, _, named := strings.Cut(filepath.Base(path), "-")
	pid, err := strconv.Atoi(number)
	return pid, named && err == nil && pid > 0
}

// checkDir refuses a directory that belongs to or is open to others.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("looking at the directory of control sockets: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s should be the directory of control sockets and is none", dir)
	case !owned(info):
		return fmt.Errorf("the directory %s of control sockets belongs to another user; set PETRIGATE_RUNTIME_DIR to one of yours", dir)
	case exposed(info):
		return fmt.Errorf("the directory %s of control sockets is open to other users (mode %04o): chmod 700 it", dir, info.Mode().Perm())
	}
	return nil
}

// sockets lists the sockets of a directory, in the order of their names.
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

// removeStale removes the sockets that nobody listens on and whose processes
// are gone. Both must hold: a socket is bound before it is listened on, and a
// process may be of another container.
func removeStale(dir string) {
	paths, _ := sockets(dir) // what cannot be listed is not stale
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
