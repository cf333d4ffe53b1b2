package textfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait is how long [Locked] waits for another process.
const lockWait = 5 * time.Second

// Locked runs f while no other process runs Locked for the same file. The file need not exist,
// because a separate file next to it serves as the lock. If necessary, Locked creates the
// directory, accessible only to the current user.
func Locked(file string, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("making the folder of %s: %w", file, err)
	}
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("waiting for another petrigate to be done with %s: %w", file, err)
	}
	defer lock.Close()
	return f()
}
