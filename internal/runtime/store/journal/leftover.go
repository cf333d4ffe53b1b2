package journal

import (
	"path/filepath"
	"strings"
	"time"
)

// maxTempAge is the longest time that a running process needs for a temporary file: the process of
// an older one must have been killed.
const maxTempAge = time.Minute

// removeLeftovers removes temporary files of killed processes. A slow process that loses a file
// this way writes it again.
func (l *log) removeLeftovers(now time.Time) error {
	names, err := l.disk.list(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	_ = l.disk.remove(l.path + "-witness") // written by schemas before the log existed
	for _, name := range names {
		unsealed := strings.HasPrefix(name, l.path+segmentSuffix) && strings.HasSuffix(name, unsealedSuffix)
		if !unsealed && !strings.HasPrefix(name, l.path+endSuffix+".") {
			continue
		}
		if info, err := l.disk.stat(name); err == nil && now.Sub(info.ModTime()) > maxTempAge {
			_ = l.disk.remove(name) // the next start tries again
		}
	}
	return nil
}
