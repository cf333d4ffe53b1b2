package plain_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/plain"
)

func ExampleVisible() {
	fmt.Println(plain.Visible("invoice\u202egpj.exe\r"))
	// Output: invoice\u{202e}gpj.exe\u{d}
}

func ExampleSpan() {
	fmt.Println(plain.Span(90*time.Second), plain.Span(15*time.Minute), plain.Span(1400*time.Millisecond))
	// Output: 1m30s 15m 1s
}
