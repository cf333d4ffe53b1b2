package front_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

func TestMain(m *testing.M) { proxytest.Main(m) }
