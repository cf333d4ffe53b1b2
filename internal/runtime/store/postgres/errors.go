package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// sqlState returns the server's code for an error, or "" if err does not come from the server.
func sqlState(err error) string {
	if p, ok := errors.AsType[*pgconn.PgError](err); ok {
		return p.Code
	}
	return ""
}

// explanations maps the server's codes to explanations for an operator.
var explanations = map[string]string{
	"25006": "it is read-only: it is a standby, or default_transaction_read_only is on",
	"42501": "the user lacks a privilege",
	"53100": "its disk is full",
	"55P03": "it took too long",
	"57014": "it took too long",
	"42P01": "the tables do not exist, or are not in the search_path",
	"42883": "the tables do not exist, or are not in the search_path",
}

// explain prefixes an error with an explanation if its cause is known.
func explain(err error) error {
	if why, known := explanations[sqlState(err)]; known {
		return fmt.Errorf("%s: %w", why, err)
	}
	return err
}

// connectionLost reports whether err concerns only one connection, so that another connection may
// succeed.
func connectionLost(err error) bool {
	var p *pgconn.PgError
	switch {
	case errors.Is(err, backend.ErrStale), errors.Is(err, backend.ErrRolledBack), errors.Is(err, errClosed), errors.Is(err, pgx.ErrNoRows):
		return false
	case errors.As(err, &p):
		return p.SeverityUnlocalized == "FATAL" || p.Severity == "FATAL"
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, new(net.Error))
}
