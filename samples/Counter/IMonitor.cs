namespace CounterSample;

/// <summary>This is the interface of the paper, §4.2, word for word.</summary>
public interface IMonitor
{
    void Report(int count);
}
