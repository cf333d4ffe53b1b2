package journal

import (
	"path/filepath"
	"strings"
	"time"
)

// abandoned is the age of a temporary file at which its process must have been killed.
const abandoned = time.Minute

// removeLeftovers removes the files that killed processes have not given their names yet. Another process
// that is slow, and loses a file to it, writes the file again.
func (l *log) removeLeftovers(now time.Time) error {
	names, err := l.disk.list(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	_ = l.disk.remove(l.path + "-witness") // of schemas before the log
	for _, name := range names {
		unsealed := strings.HasPrefix(name, l.path+asideSuffix) && strings.HasSuffix(name, tornSuffix)
		if !unsealed && !strings.HasPrefix(name, l.path+witnessSuffix+".") {
			continue
		}
		if info, err := l.disk.stat(name); err == nil && now.Sub(info.ModTime()) > abandoned {
			_ = l.disk.remove(name) // the next start tries again
		}
	}
	return nil
}
