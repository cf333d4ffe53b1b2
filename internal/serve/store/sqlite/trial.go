package sqlite

import "strings"

// overhead is how many bytes a decision may write besides its data: the pages that it changes, in
// whole.
const overhead = 64 << 10

// try writes as much as a decision with n bytes of data does; 0: as little as shows that the
// database can be written.
func (tx *transaction) try(n int) error {
	if n == 0 {
		return touch(tx.link)
	}
	_, err := tx.link.exec("INSERT OR REPLACE INTO part (scope, name, version, changed, data) VALUES ('trial', '', 1, 0, ?)",
		strings.Repeat(" ", n+overhead))
	return err
}

// untry removes what try wrote.
func (tx *transaction) untry() error {
	_, err := tx.link.exec("DELETE FROM part WHERE scope = 'trial'")
	return err
}
