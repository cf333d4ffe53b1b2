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

	driver "modernc.org/sqlite" // imported to register the driver
)

// link is a connection with its prepared statements. Only one goroutine at a time may use it.
// Statements run without a context, because each is short and waits for a lock no longer than the
// busy timeout.
type link struct {
	db         *sql.DB
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	file       fs.FileInfo // file info of the connection's file; set only for the writing connection
}

// Timeouts for a locked database in milliseconds.
const (
	busyTimeout      = 5000
	busyTimeoutShort = 50
)

// pragmas lists the settings applied to every connection. They prevent a malicious database from
// executing code. They also disable memory-mapping of the file, because another process may
// truncate it.
var pragmas = []string{"busy_timeout(" + strconv.Itoa(busyTimeout) + ")", "mmap_size(0)", "trusted_schema(0)", "cell_size_check(1)"}

// dialer opens the database file with a database/sql driver and an SQLite file system (VFS). If
// system is empty, the driver's default file system is used.
type dialer struct{ driver, system string }

var defaultDialer = dialer{driver: "sqlite"}

// dial opens the file, which must exist.
func (d dialer) dial(path string, mode connectionMode) (*link, error) {
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

// connectionMode is the purpose of a connection.
type connectionMode int

const (
	writing connectionMode = iota // writes, and flushes each commit to disk
	reading
	ignoringLog // reads the file without its write-ahead log
)

// address returns the file's URL.
func (d dialer) address(path string, mode connectionMode) string {
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // the path starts with a Windows drive letter
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

func (l *link) prepared(text string) (*sql.Stmt, error) {
	if s, ok := l.statements[text]; ok {
		return s, nil
	}
	s, err := l.conn.PrepareContext(context.Background(), text)
	if err == nil {
		l.statements[text] = s
	}
	return s, err
}

// exec executes a statement, preparing it on first use.
func (l *link) exec(text string, args ...any) error {
	s, err := l.prepared(text)
	if err == nil {
		_, err = s.Exec(args...)
	}
	return err
}

// run executes a statement without preparing it, for pragmas and migrations.
func (l *link) run(text string) error {
	_, err := l.conn.ExecContext(context.Background(), text)
	return err
}

// row reads the first row of a query's result. It returns false if the result is empty.
func (l *link) row(text string, args []any, to ...any) (found bool, err error) {
	s, err := l.prepared(text)
	if err != nil {
		return false, err
	}
	err = s.QueryRow(args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// rows runs a query, and calls the function for each row of the result.
func (l *link) rows(text string, args []any, each func(scan func(to ...any) error) error) error {
	s, err := l.prepared(text)
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

// number returns the number that a query selects, or 0 if the result is empty.
func (l *link) number(text string, args ...any) (n int64, err error) {
	_, err = l.row(text, args, &n)
	return n, err
}

func (l *link) close() error {
	for _, s := range l.statements {
		_ = s.Close() // closing the connection reports the error
	}
	return errors.Join(l.conn.Close(), l.db.Close())
}

// abandon closes a connection to a file that has been removed or replaced. It does not touch the
// write-ahead log at the database's path, because the log may belong to a new file.
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
