// Package trust records which configurations in project directories a person trusts. A cloned
// project may contain a configuration that starts programs and reads secrets. Trust therefore
// applies to one path and one digest only: if the configuration changes, the person is asked again.
package trust

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/safefile"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A List is the file that lists the configurations trusted by the current user.
type List struct{ File string }

// content is the JSON object in the file. It maps the absolute path of each trusted configuration
// to the configuration's SHA-256 digest.
type content struct {
	Version int               `json:"version"`
	Trusted map[string]string `json:"trusted"`
}

// Trusts reports whether a person trusts the configuration at this path with exactly this content.
// It returns false if another user could change the configuration or the list cannot be read.
func (b List) Trusts(path string, src []byte) bool {
	place, err := resolvedPath(path)
	if err != nil || safefile.CheckProjectFile(path) != nil {
		return false
	}
	known, err := b.read()
	return err == nil && known.Trusted[place] == digest(src)
}

// Trust records that a person trusts the configuration at this path with exactly this content.
func (b List) Trust(path string, src []byte) error {
	place, err := resolvedPath(path)
	if err != nil {
		return fmt.Errorf("recording that %s is trusted: %w", path, err)
	}
	return textfile.Locked(b.File, func() error {
		known, err := b.read()
		if err != nil {
			return err
		}
		known.Trusted[place] = digest(src)
		text, err := json.MarshalIndent(known, "", "  ")
		if err != nil {
			return err
		}
		return textfile.ReplacePrivate(b.File, append(text, '\n'))
	})
}

func (b List) read() (content, error) {
	known := content{Version: 1, Trusted: map[string]string{}}
	src, err := b.bytes()
	if err != nil || src == nil {
		return known, err
	}
	if err := json.Unmarshal(src, &known); err != nil || known.Version != 1 || known.Trusted == nil {
		return known, fmt.Errorf("the file %s of trusted configurations cannot be read; without it you are asked again", b.File)
	}
	return known, nil
}

// bytes returns the content of the file, or nil if the file does not exist. It returns an error if
// another user could have written to the file.
func (b List) bytes() ([]byte, error) {
	f, err := os.Open(b.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the list of trusted configurations: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = errors.Join(safefile.CheckOwnDirectory(filepath.Dir(b.File)), safefile.CheckFile(info))
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not count: %w", b.File, err)
	}
	src := make([]byte, info.Size())
	_, err = f.ReadAt(src, 0)
	return src, err
}

func digest(src []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(src))
}

// resolvedPath returns the absolute path of a file after resolving the symbolic links in its
// directory.
func resolvedPath(path string) (string, error) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	return filepath.Join(folder, filepath.Base(path)), err
}
