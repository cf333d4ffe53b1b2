package basefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/serve/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A CopyError comes with the copy of what could not be read at its address.
type CopyError struct{ Err error }

func (e *CopyError) Error() string {
	return fmt.Sprintf("the copy of what was in force last is taken, since the address cannot be read: %v", e.Err)
}

func (e *CopyError) Unwrap() error { return e.Err }

// Copies are what was read at addresses when it was in force last, in a directory. Whoever
// takes a copy has to check it as what it is a copy of.
type Copies struct{ Dir string }

// Read reads what is at an address. Where it cannot be read, but was kept, it returns the copy and
// a [*CopyError].
func (c Copies) Read(ctx context.Context, address string) ([]byte, error) {
	data, err := Fetch(ctx, address)
	if err == nil {
		return data, nil
	}
	kept, none := c.Kept(address)
	if errors.Is(none, errNoCopy) {
		return nil, err
	}
	if none != nil {
		return nil, errors.Join(err, none)
	}
	return kept, &CopyError{err}
}

// Keep keeps what was read at an address, and is in force.
func (c Copies) Keep(address string, data []byte) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of copies of base policies: %w", err)
	}
	if was, err := c.Kept(address); err == nil && string(was) == string(data) {
		return nil
	}
	return textfile.ReplacePrivate(c.file(address), data)
}

func (c Copies) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:16]))
}

var errNoCopy = errors.New("there is no copy of it, since it was not in force on this machine yet")

// Kept returns the copy of what was at an address.
func (c Copies) Kept(address string) ([]byte, error) {
	f, err := os.Open(c.file(address))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoCopy
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = safefile.Regular(info)
	}
	if err != nil {
		return nil, fmt.Errorf("the copy %s of %s is not taken: %w", f.Name(), address, err)
	}
	return io.ReadAll(io.LimitReader(f, maxFetch+1))
}
