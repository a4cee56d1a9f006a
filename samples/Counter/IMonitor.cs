namespace CounterSample;

/// <summary>The paper's, §4.2, word for word.</summary>
public interface IMonitor
{
    void Report(int count);
}
