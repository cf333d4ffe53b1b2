package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// witnessSuffix is behind the name of the database in the name of the file that has the last step that
// is known to be on the disk: where the log ends before it, an older copy was put in its place.
const witnessSuffix = "-head"

// testimony is the content of that file.
type testimony struct {
	Step uint64 `json:"step"`
	Hash string `json:"hash"`
}

// readWitness reads what the file says; nothing where it does not exist.
func (f *directory) readWitness() (at position, err error) {
	name := f.path + witnessSuffix
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
		err = regular(name, info)
	}
	if err != nil {
		return at, err
	}
	data, err := io.ReadAll(io.NewSectionReader(in, 0, 4<<10))
	if err != nil {
		return at, err
	}
	var t testimony
	err = json.Unmarshal(data, &t)
	if err == nil {
		_, err = hex.Decode(at.hash[:], []byte(t.Hash))
	}
	if err != nil {
		return at, fmt.Errorf("reading %q, which has the end of the log: %w; if the database and its log are the newest, remove that file", name, err)
	}
	at.step = t.Step
	return at, nil
}

// testify writes the file for the end of the log, once that is on the disk. It needs mu.
func (b *Backend) testify() error {
	if err := b.log.flushing.bring(b.image.at.step, func() uint64 { return b.image.at.step }); err != nil {
		return err
	}
	b.witness(b.image.at)
	return nil
}

// witness writes the file. If that fails, the next start is less watchful; nothing is refused.
func (b *Backend) witness(at position) {
	name := b.log.path + witnessSuffix
	data, err := json.Marshal(testimony{at.step, hex.EncodeToString(at.hash[:])})
	if err == nil {
		err = b.log.replace(name, append(data, '\n'))
	}
	if err != nil {
		b.logger.Warn("where the log of the state ends cannot be noted; a copy that is older than this will not be known after a restart", "file", name, "error", err)
	}
}

// replace writes a file whole, or leaves it as it was, also when the power goes.
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
