using Ambrosia;

namespace CounterSample;

/// <summary>The paper's, §4.2.1, word for word.</summary>
public interface IMyImmortal
{
    [ImpulseHandler]
    void UserInput(string line);
}
