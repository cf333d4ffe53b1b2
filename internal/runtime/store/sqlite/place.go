package sqlite

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// Place is the position in the log of the last step that the database contains.
type Place struct {
	ID      string   // ID of the database
	Step    uint64   // last step that the database contains
	Hash    [32]byte // hash of that step
	Segment uint64   // number of the segment that contains the end of the step; a segment has the number of the last step before it
	Offset  int64    // offset of the step's end in the segment
}

// insertPlace writes the first place of a database that is new or that was converted from an older
// schema. The records of an older schema fill the given number of segments, and the place is at the
// end of these segments.
func insertPlace(l *link, segments int) error {
	return l.exec("INSERT INTO place (one, id, step, hash, segment, offset) VALUES (1, ?, ?, zeroblob(32), ?, 0)",
		strings.ToLower(rand.Text()), int64(segments), int64(segments))
}

func readPlace(l *link) (p Place, err error) {
	var step, segment int64
	var hash []byte
	found, err := l.row("SELECT id, step, hash, segment, offset FROM place", nil, &p.ID, &step, &hash, &segment, &p.Offset)
	if err == nil && (!found || len(hash) != len(p.Hash)) {
		err = fmt.Errorf("the state database lacks the position of its checkpoint: it is damaged")
	}
	copy(p.Hash[:], hash)
	p.Step, p.Segment = uint64(step), uint64(segment)
	return p, err
}
