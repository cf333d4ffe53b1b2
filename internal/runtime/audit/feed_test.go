package audit

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// kept is a storage in memory that can refuse records.
type kept struct {
	records []string
	refuses error
}

func (k *kept) Append(record []byte) error { return k.AppendAll([][]byte{record}) }

func (k *kept) AppendAll(records [][]byte) error {
	if k.refuses == nil {
		k.records = append(k.records, texts(records)...)
	}
	return k.refuses
}

func texts(records [][]byte) (all []string) {
	for _, r := range records {
		all = append(all, string(r))
	}
	return all
}

// TestFeed checks that a follower gets all records stored from then on, and no others.
func TestFeed(t *testing.T) {
	for name, out := range map[string]*kept{"with a storage": {}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			var storage BatchStorage
			if out != nil {
				storage = out
			}
			f := NewFeed(storage)
			r := NewRecorder(f, time.Now)
			if r.Active() != (out != nil) {
				t.Errorf("before somebody follows it is active: %t", r.Active())
			}
			if err := f.Append([]byte("before")); err != nil {
				t.Fatal(err)
			}
			to := f.Follow(3)
			if !r.Active() {
				t.Error("nothing is recorded for who follows")
			}
			record := []byte("0")
			for i := range 5 {
				record[0] = byte('0' + i) // the memory is reused
				if err := f.Append(record); err != nil {
					t.Fatal(err)
				}
			}
			<-to.Ready()
			if got, lost := to.Take(); fmt.Sprint(texts(got), lost) != "[2 3 4] 2" {
				t.Errorf("got %q, lost %d", got, lost)
			}
			if out != nil {
				out.refuses = errors.New("full")
				if err := f.AppendAll([][]byte{[]byte("refused")}); err == nil {
					t.Error("what is not stored is no error")
				}
			}
			to.Close()
			_ = f.Append([]byte("after"))
			if got, lost := to.Take(); len(got)+lost != 0 {
				t.Errorf("got %q, lost %d", got, lost)
			}
			if out != nil && fmt.Sprint(out.records) != "[before 0 1 2 3 4]" {
				t.Errorf("stored %q", out.records)
			}
		})
	}
}
