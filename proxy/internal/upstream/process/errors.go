package process

import (
	"errors"
)

// ErrClosed is the reason of everything that ends because of Close.
var ErrClosed = errors.New("the connection was closed")
