package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	driver "modernc.org/sqlite" // registers itself
)

// A link is one connection with its prepared statements. It is used by one goroutine at
// a time. Statements have no context: each is short, and waits for a lock no longer than
// busy_timeout.
type link struct {
	db         *sql.DB
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	file       fs.FileInfo // that it is connected to, for the scribe
}

// For how many milliseconds a lock is waited for: by all, and where that was in vain before.
const (
	patient = 5000
	hurried = 50
)

// What all connections are told. A database that was made by somebody hostile runs
// nothing; the file is never mapped, since another process may cut it.
var pragmas = []string{"busy_timeout(" + strconv.Itoa(patient) + ")", "mmap_size(0)", "trusted_schema(0)", "cell_size_check(1)"}

// A dialer says by which driver the file is opened, and by which file system of that
// driver; empty: the one of the machine. Tests have others.
type dialer struct{ driver, system string }

var usual = dialer{driver: "sqlite"}

// dial opens the file, which must exist.
func (d dialer) dial(path string, mode access) (*link, error) {
	db, err := sql.Open(d.driver, d.address(path, mode))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &link{db: db, conn: conn, statements: map[string]*sql.Stmt{}}, nil
}

// An access is what a connection is for.
type access int

const (
	writing access = iota // each commit is on the disk
	reading
	ignoringLog // reading the file alone, as it is
)

// address is the file as a URL.
func (d dialer) address(path string, mode access) string {
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	q := url.Values{"mode": {"rw"}, "_error_rc": {"1"}, "_dqs": {"0"}, "_defensive": {"1"}}
	if d.system != "" {
		q.Set("vfs", d.system)
	}
	switch mode {
	case writing:
		q["_pragma"] = append(pragmas[:len(pragmas):len(pragmas)], "synchronous(FULL)")
	case reading:
		q["_pragma"] = append(pragmas[:len(pragmas):len(pragmas)], "query_only(1)")
	case ignoringLog:
		q["_pragma"] = pragmas
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}

func (l *link) statement(text string) (*sql.Stmt, error) {
	if s, ok := l.statements[text]; ok {
		return s, nil
	}
	s, err := l.conn.PrepareContext(context.Background(), text)
	if err == nil {
		l.statements[text] = s
	}
	return s, err
}

// exec returns how many rows were changed.
func (l *link) exec(text string, args ...any) (int64, error) {
	s, err := l.statement(text)
	if err != nil {
		return 0, err
	}
	result, err := s.Exec(args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// run is exec for what is not worth a prepared statement: pragmas, migrations.
func (l *link) run(text string) error {
	_, err := l.conn.ExecContext(context.Background(), text)
	return err
}

// row reads the first row; found is false where there is none.
func (l *link) row(text string, args []any, to ...any) (found bool, err error) {
	s, err := l.statement(text)
	if err != nil {
		return false, err
	}
	err = s.QueryRow(args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows calls each for all rows.
func (l *link) rows(text string, args []any, each func(scan func(to ...any) error) error) error {
	s, err := l.statement(text)
	if err != nil {
		return err
	}
	rows, err := s.Query(args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// number reads one number.
func (l *link) number(text string, args ...any) (n int64, err error) {
	_, err = l.row(text, args, &n)
	return n, err
}

func (l *link) close() error {
	for _, s := range l.statements {
		_ = s.Close() // goes with the connection
	}
	return errors.Join(l.conn.Close(), l.db.Close())
}

// abandon closes the connection to a file that is not the one of that name any more. The
// log of that name is left alone: it may belong to the new one.
func (l *link) abandon() error {
	_ = l.conn.Raw(func(c any) error {
		if f, ok := c.(driver.FileControl); ok {
			_, err := f.FileControlPersistWAL("main", 1)
			return err
		}
		return nil
	})
	return l.close()
}
