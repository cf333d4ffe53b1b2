package config

import "github.com/petrigate/petrigate/internal/diag"

// A Position is a position in a file of the user.
type Position = diag.Position

// An Error is one problem in a configuration, with its position. It never contains
// the result of an interpolation.
type Error = diag.Problem

// An ErrorList has every problem of a configuration, in the order of the file.
type ErrorList = diag.List

// Text renders err for a person: with excerpts if it wraps an [ErrorList] or an
// [Error], otherwise as err.Error().
func Text(err error) string { return diag.Text(err) }
