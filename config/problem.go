package config

import "github.com/petrigate/petrigate/internal/diag"

// A Position is a file, line and column in one of the user's files.
type Position = diag.Position

// An Error is one problem in a configuration, with its position. It never contains the result of an
// interpolation.
type Error = diag.Problem

// An ErrorList holds all problems of a configuration, in file order.
type ErrorList = diag.List

// Text renders err for a person: with excerpts if err wraps an [ErrorList] or an [Error], otherwise
// as err.Error().
func Text(err error) string { return diag.Text(err) }
