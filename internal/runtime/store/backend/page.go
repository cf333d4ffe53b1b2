package backend

import (
	"cmp"
	"iter"
	"slices"
)

// PageSize is how many rows are read at a time: no statement takes long, and none is open
// while whoever reads is busy.
const PageSize = 1000

// A Row is a record as a database has it.
type Row struct {
	Record
	Place int64 // among the others, as the database tells them apart
}

// Pages yields the records that q selects. Read returns those of the next page, at most n,
// which come after a row that is zero at first; or, if q has Last, the last n, the newest
// first.
func Pages(q Query, read func(after Row, n int) ([]Row, error)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var after Row
		page := cmp.Or(q.Page, PageSize)
		for left := q.Limit; left > 0 || q.Limit == 0; left -= page {
			n := page
			if left > 0 && (left < n || q.Last) {
				n = left
			}
			rows, err := read(after, n)
			if err != nil {
				yield(Record{}, err)
				return
			}
			if q.Last {
				slices.Reverse(rows)
			}
			for i := range rows {
				if !yield(rows[i].Record, nil) {
					return
				}
			}
			if q.Last || len(rows) < n {
				return
			}
			after = rows[len(rows)-1]
		}
	}
}
