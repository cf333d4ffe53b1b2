package basefile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A CopyError means that a URL could not be read, so cached copies were returned instead.
type CopyError struct{ Err error }

func (e *CopyError) Error() string {
	return fmt.Sprintf("using the last copy in force, because the address cannot be read: %v", e.Err)
}

func (e *CopyError) Unwrap() error { return e.Err }

// Copies is a directory of cached base policies. A base policy from a URL is cached when it takes
// effect. Callers must verify cached copies just like fetched content.
type Copies struct{ Dir string }

// Read fetches the content of the URLs of a base policy and its signature. If a URL cannot be read
// but all of them are cached, Read returns the cached content and a [*CopyError]. It never combines
// fetched and cached content, because a signature is valid for only one version of the base policy.
func (c Copies) Read(ctx context.Context, addresses ...string) ([][]byte, error) {
	all, err := fetchAll(ctx, addresses)
	if err == nil {
		return all, nil
	}
	kept, none := c.Kept(addresses...)
	switch {
	case errors.Is(none, errNoCopy):
		return nil, err
	case none != nil:
		return nil, errors.Join(err, none)
	}
	return kept, &CopyError{err}
}

func fetchAll(ctx context.Context, addresses []string) (all [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for i, address := range addresses {
		data, err := fetch(ctx, address)
		switch {
		case err != nil && i > 0:
			return nil, fmt.Errorf("reading its signature: %w", err)
		case err != nil:
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// Keep caches the content of a URL. It must be called only with verified content that takes effect.
func (c Copies) Keep(address string, data []byte) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of copies of base policies: %w", err)
	}
	if was, err := c.kept(address); err == nil && string(was) == string(data) {
		return nil
	}
	return textfile.ReplacePrivate(c.file(address), data)
}

func (c Copies) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.Dir, fmt.Sprintf("%x", sum[:16]))
}

var errNoCopy = errors.New("there is no copy of it, because it was never in force on this machine")

// Kept returns the cached content of the URLs without accessing the network.
func (c Copies) Kept(addresses ...string) (all [][]byte, err error) {
	for _, address := range addresses {
		data, err := c.kept(address)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (c Copies) kept(address string) ([]byte, error) {
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
		err = safefile.CheckFile(info)
	}
	if err != nil {
		return nil, fmt.Errorf("rejected the copy %s of %s: %w", f.Name(), address, err)
	}
	return io.ReadAll(io.LimitReader(f, maxFetch+1))
}
