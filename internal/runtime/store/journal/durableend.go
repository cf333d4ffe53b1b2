package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/petrigate/petrigate/internal/runtime/store/sqlite"
)

// durableEnd is the content of the file that stores the last step known to be on disk. If the log
// ends before this step, an older copy has replaced the log.
type durableEnd struct {
	Step uint64 `json:"step"`
	Hash string `json:"hash"`
}

// readDurableEnd reads the last step known to be on disk. It returns the zero position if the file
// does not exist.
func (f *directory) readDurableEnd() (at position, err error) {
	name := f.path + endSuffix
	in, err := f.disk.open(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		err = sqlite.CheckRegular(name, info)
	}
	if err != nil {
		return at, err
	}
	data, err := io.ReadAll(io.NewSectionReader(in, 0, 4<<10))
	if err != nil {
		return at, err
	}
	var t durableEnd
	err = json.Unmarshal(data, &t)
	if err == nil {
		_, err = hex.Decode(at.hash[:], []byte(t.Hash))
	}
	if err != nil {
		return at, fmt.Errorf("reading %q, which records the end of the log: %w; if the database and its log are the newest, remove that file", name, err)
	}
	at.step = t.Step
	return at, nil
}

// replace writes a file atomically: after a power loss the file has either the old or the new
// content.
func (f *directory) replace(name string, data []byte) error {
	d, next := f.disk, name+"."+f.owner
	_ = d.remove(next)
	out, err := d.open(next, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	err = errors.Join(err, out.sync(), out.Close())
	if err == nil {
		err = d.rename(next, name)
	}
	if err != nil {
		_ = d.remove(next)
	}
	return err
}
