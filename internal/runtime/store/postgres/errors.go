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

// explain adds advice to errors with a known cause.
func explain(err error) error {
	var p *pgconn.PgError
	if !errors.As(err, &p) {
		return err
	}
	switch p.Code {
	case "25006":
		return fmt.Errorf("it is read-only: it is a standby, or default_transaction_read_only is on: %w", err)
	case "42501":
		return fmt.Errorf("the user lacks a privilege: %w", err)
	case "53100":
		return fmt.Errorf("its disk is full: %w", err)
	case "55P03", "57014":
		return fmt.Errorf("it took too long: %w", err)
	case "42P01", "42883":
		return fmt.Errorf("the tables do not exist, or are not in the search_path: %w", err)
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
