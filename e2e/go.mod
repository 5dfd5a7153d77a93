module github.com/timerbus/timerbus/e2e

go 1.26.0

require github.com/timerbus/timerbus v0.0.0

replace github.com/timerbus/timerbus => ../
