package text_test

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

func ExampleEscape() {
	fmt.Println(text.Escape("invoice\u202egpj.exe\r"))
	// Output: invoice\u{202e}gpj.exe\u{d}
}

func ExampleDuration() {
	fmt.Println(text.Duration(90*time.Second), text.Duration(15*time.Minute), text.Duration(1400*time.Millisecond))
	// Output: 1m30s 15m 1s
}

func ExampleMasker() {
	mask := text.Masker([]string{"hunter2", "s3cr3t"}, "***")
	fmt.Println(mask.Replace("the password is hunter2, the token s3cr3t"))
	// Output: the password is ***, the token ***
}
