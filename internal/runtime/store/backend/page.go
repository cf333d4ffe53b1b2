package backend

import (
	"cmp"
	"iter"
	"slices"
)

// PageSize is the default number of rows read at a time. Pages keep each statement short, and no
// statement is open while the caller processes records.
const PageSize = 1000

// Row is a record with its position in the database.
type Row struct {
	Record
	Place int64 // identifies the row within the database
}

// Pages yields the records that q selects. The function read returns the next page: at most n
// records that follow the row after, which is zero for the first page. If q.Last is set, read
// returns the last n records, newest first.
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
