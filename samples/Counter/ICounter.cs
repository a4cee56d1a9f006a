namespace CounterSample;

/// <summary>This is the interface of the paper, §4.2, word for word.</summary>
public interface ICounter
{
    void Increment();

    void Reset();
}
