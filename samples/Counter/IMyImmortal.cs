using Ambrosia;

namespace CounterSample;

/// <summary>This is the interface of the paper, §4.2.1, word for word.</summary>
public interface IMyImmortal
{
    [ImpulseHandler]
    void UserInput(string line);
}
