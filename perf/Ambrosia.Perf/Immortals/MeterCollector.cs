// Collects the meter of a host as whatever exports metrics does: every so often all instruments are observed, on a thread of its own.
using System.Diagnostics.Metrics;

namespace Ambrosia.Perf;

/// <summary>
/// Listens to the meter <c>Ambrosia</c> of this process, if it has one. When it is stopped it prints <c>collected TIMES VALUES</c>. The
/// thread that obeys the driver starts and stops it. It collects at its start, too, so that a round that is over before the first interval,
/// as the smallest ones are where processors are short, was collected all the same.
/// </summary>
internal sealed class MeterCollector
{
    private readonly ManualResetEventSlim _isOver = new(false);
    private Thread? _thread;

    public void Start(TimeSpan every)
    {
        _isOver.Reset();
        _thread = new Thread(() => Run(every)) { IsBackground = true, Name = "collector" };
        _thread.Start();
    }

    public void Stop()
    {
        _isOver.Set();
        _thread?.Join();
    }

    private void Run(TimeSpan every)
    {
        long times = 0, values = 0;
        using var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == "Ambrosia") listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<double>((_, _, _, _) => values++);
        listener.Start();
        do
        {
            listener.RecordObservableInstruments();
            times++;
        }
        while (!_isOver.Wait(every));
        Console.WriteLine($"collected {times} {values}");
    }
}
